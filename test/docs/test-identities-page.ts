import { readFile } from 'node:fs/promises';

/** The text of docs/sellers/test-identities.md. */
const page = await readFile(new URL('../../docs/sellers/test-identities.md', import.meta.url), 'utf8');

/** Returns the rows of the first table under a heading of docs/sellers/test-identities.md, each as a list of cells. */
export const rowsUnder = (heading: string): string[][] =>
  (page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));

/** An outcome as the page documents it. */
interface DocumentedOutcome<Outcome> {
  readonly prefix: string;
  readonly example: string;
  readonly outcome: Outcome;
  /** The response of the service: its status and its problem code. */
  readonly response: string;
}

/** Returns the documented outcomes of the test people or of the test phones. */
export const documentedOutcomes = <Outcome extends string>(
  heading: 'People who fail' | 'Phones',
): DocumentedOutcome<Outcome>[] =>
  rowsUnder(heading).map(([prefix = '', example = '', outcome = '', , response = '']) => ({
    prefix,
    example,
    outcome: outcome as Outcome,
    response,
  }));
