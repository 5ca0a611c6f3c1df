import type { PolicyDocument } from 'aws-lambda';

/** The parts of a statement that our authorizer uses: it returns no conditions and no NotAction. */
interface Statement {
  readonly Effect: string;
  readonly Action: string;
  readonly Resource: string | readonly string[];
}

/** Returns whether a policy allows a method. A deny has precedence over any allow; without an allow the method is denied. */
export const allowsInvoke = ({ Statement: statements }: PolicyDocument, methodArn: string): boolean => {
  const effects = (statements as readonly Statement[])
    .filter(({ Action }) => matches(Action, 'execute-api:Invoke'))
    .filter(({ Resource }) => [Resource].flat().some((pattern) => matches(pattern, methodArn)))
    .map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
};

/** `*` matches any characters, also slashes, and `?` matches one character. */
const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`).test(text);
