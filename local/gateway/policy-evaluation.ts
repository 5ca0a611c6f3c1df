import type { PolicyDocument } from 'aws-lambda';

const INVOKE = 'execute-api:Invoke';

/** The parts of a statement that our authorizer uses: it returns no conditions and no NotAction. */
interface Statement {
  readonly Effect: string;
  readonly Action?: string | readonly string[];
  readonly Resource?: string | readonly string[];
}

/** Returns whether a policy allows a method. A deny has precedence over any allow; without an allow the method is denied. */
export const allowsInvoke = ({ Statement: statements }: PolicyDocument, methodArn: string): boolean => {
  const matching = (statements as readonly Statement[]).filter(
    ({ Action, Resource }) => matchesAny(Action, INVOKE) && matchesAny(Resource, methodArn),
  );
  return (
    matching.some(({ Effect }) => Effect === 'Allow') && !matching.some(({ Effect }) => Effect === 'Deny')
  );
};

const matchesAny = (patterns: string | readonly string[] | undefined, text: string): boolean =>
  [patterns ?? []].flat().some((pattern) => toExpression(pattern).test(text));

/** `*` matches any characters, also slashes, and `?` matches one character. */
const toExpression = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
