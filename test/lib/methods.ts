import type { Template } from 'aws-cdk-lib/assertions';
import { resourcesOf } from './synthesized.ts';

/** A method of the API in the template. */
export interface Method {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly apiKeyRequired: boolean;
  readonly integration: unknown;
}

/** Returns every method of the API with its full path. */
export const methodsOf = (template: Template): Method[] => {
  const parts = resourcesOf(template, 'AWS::ApiGateway::Resource');
  const pathOf = (id: string | undefined): string => {
    const part = parts[id ?? '']?.Properties;
    return part === undefined ? '' : `${pathOf(part.ParentId.Ref)}/${part.PathPart}`;
  };
  return Object.values(resourcesOf(template, 'AWS::ApiGateway::Method')).map(({ Properties }) => ({
    method: Properties.HttpMethod,
    path: pathOf(Properties.ResourceId.Ref) || '/',
    authorization: Properties.AuthorizationType,
    apiKeyRequired: Properties.ApiKeyRequired ?? false,
    integration: Properties.Integration,
  }));
};

/** Returns the one method of a row. */
export const methodOf = (
  template: Template,
  route: { readonly method: string; readonly path: string },
): Method => {
  const found = methodsOf(template).filter(
    ({ method, path }) => method === route.method && path === route.path,
  );
  expect(found).toHaveLength(1);
  return found[0] as Method;
};
