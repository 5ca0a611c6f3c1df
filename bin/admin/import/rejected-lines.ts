import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The file of the lines that could not be read. */
export interface RejectedLines {
  /** Writes more lines, and gives how long the file is then, in bytes. */
  append(lines: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** Opens the file as it was when it had this many bytes: what a run that was interrupted wrote after its checkpoint is written again. */
export const openRejectedLines = async (path: string, bytes: number): Promise<RejectedLines> => {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  // Somebody may have taken the file away meanwhile.
  let end = Math.min(bytes, (await file.stat()).size);
  await file.truncate(end);
  return {
    async append(lines) {
      const text = Buffer.from(lines.join(''));
      await file.write(text, 0, text.length, end);
      end += text.length;
      return end;
    },
    close: () => file.close(),
  };
};
