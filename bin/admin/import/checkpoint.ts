import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import * as v from 'valibot';
import { DELIMITERS } from './csv-row.ts';

/** How far an import came, and what it did up to there. */
const progressSchema = v.object({
  offset: v.number(),
  lines: v.number(),
  added: v.number(),
  already_registered: v.number(),
  rejected: v.number(),
  /** How long the file of rejected lines was then: what was written after it is written again. */
  rejected_bytes: v.number(),
});

export type Progress = v.InferOutput<typeof progressSchema>;

/** Which file, into which deployment: an import goes on only where both are the same. */
const identitySchema = v.object({
  target: v.string(),
  file_bytes: v.number(),
  /** Of the first 64 KiB. */
  file_head_sha256: v.string(),
});

export type Identity = v.InferOutput<typeof identitySchema>;

const checkpointSchema = v.object({
  ...identitySchema.entries,
  format: v.variant('kind', [
    v.object({ kind: v.literal('jsonl') }),
    v.object({ kind: v.literal('csv'), delimiter: v.picklist(DELIMITERS), column: v.number() }),
  ]),
  progress: progressSchema,
});

export type Checkpoint = v.InferOutput<typeof checkpointSchema>;

const HEAD_BYTES = 64 * 1024;

/** Tells one file from another without reading all of it. */
export const identify = async (
  file: string,
  target: string,
): Promise<Identity & { readonly head: Buffer }> => {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    return {
      target,
      file_bytes: size,
      file_head_sha256: createHash('sha256').update(head).digest('hex'),
      head,
    };
  } finally {
    await handle.close();
  }
};

/** The checkpoint that an import of this very file into this very deployment left, if it did. */
export const readCheckpoint = async (path: string, identity: Identity): Promise<Checkpoint | undefined> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), checkpointSchema), text);
  if (!success) return undefined;
  const isSame =
    output.target === identity.target &&
    output.file_bytes === identity.file_bytes &&
    output.file_head_sha256 === identity.file_head_sha256;
  return isSame ? output : undefined;
};

/** Writes the checkpoint, whole or not at all. */
export const writeCheckpoint = async (path: string, checkpoint: Checkpoint): Promise<void> => {
  await writeFile(`${path}.draft`, JSON.stringify(checkpoint));
  await rename(`${path}.draft`, path);
};

export const removeCheckpoint = (path: string): Promise<void> => rm(path, { force: true });
