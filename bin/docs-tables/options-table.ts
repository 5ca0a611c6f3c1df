/** The options of the stages as a Markdown table, for docs/deploy.md. */

import { optionDescriptions } from '#lib/options.ts';
import { STAGE_NAMES, STAGES } from '#lib/stages.ts';
import { table } from '#reference/openapi/limit-tables.ts';

const NONE = '–';

const cellOf = (value: unknown): string => {
  if (value === null) return NONE;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  if (Array.isArray(value)) return value.map(cellOf).join(', ');
  if (typeof value !== 'object') return `\`${value}\``;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return entries.map(([name, each]) => `${name}: ${cellOf(each)}`).join('; ') || NONE;
};

/** Returns the table of the options of the stages. */
export const optionsTable = (): string =>
  table(
    ['option', ...STAGE_NAMES, 'meaning'],
    [...optionDescriptions()].map(([name, description]) => [
      `\`${name}\``,
      ...STAGE_NAMES.map((stage) => cellOf((STAGES[stage] as Record<string, unknown>)[name])),
      description,
    ]),
  );
