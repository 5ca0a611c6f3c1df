/** The styles of vitepress-openapi, in a file that only the pages of operations load: it is as large as all other styles. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLACEHOLDERS } from '../../shared/docs/site.ts';

const css = readFileSync(fileURLToPath(import.meta.resolve('vitepress-openapi/dist/style.css')));
const FILE = `assets/operations.${createHash('sha256').update(css).digest('hex').slice(0, 8)}.css`;

export const OPERATION_STYLES = `${PLACEHOLDERS.base}/docs/${FILE}`;

export const writeOperationStyles = (folder: string): Promise<void> => writeFile(join(folder, FILE), css);
