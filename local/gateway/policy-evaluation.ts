import type { PolicyDocument } from 'aws-lambda';

const INVOKE = 'execute-api:Invoke';

/** A statement as far as it matters here: what IAM allows besides (conditions, NotAction) no authorizer of ours returns. */
interface Statement {
  readonly Effect: string;
  readonly Action?: string | readonly string[];
  readonly Resource?: string | readonly string[];
}

/** Whether a policy lets a method be invoked: a deny goes before any allow, and what is not allowed is denied. */
export const allowsInvoke = ({ Statement: statements }: PolicyDocument, methodArn: string): boolean => {
  const applying = (statements as readonly Statement[]).filter(
    ({ Action, Resource }) => matchesAny(Action, INVOKE) && matchesAny(Resource, methodArn),
  );
  return (
    applying.some(({ Effect }) => Effect === 'Allow') && !applying.some(({ Effect }) => Effect === 'Deny')
  );
};

const matchesAny = (patterns: string | readonly string[] | undefined, text: string): boolean =>
  [patterns ?? []].flat().some((pattern) => toExpression(pattern).test(text));

/** `*` stands for any run of characters, `?` for any one; all else stands for itself. */
const toExpression = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
