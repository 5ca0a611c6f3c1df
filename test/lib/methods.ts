import type { Template } from 'aws-cdk-lib/assertions';
import { resourcesOf } from './synthesised.ts';

/** A method of the API as the template has it. */
export interface Method {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly apiKeyRequired: boolean;
  readonly integration: unknown;
}

/** Every method of the API with its whole path. */
export const methodsOf = (template: Template): Method[] => {
  const parts = resourcesOf(template, 'AWS::ApiGateway::Resource');
  const pathOf = (id: string | undefined): string => {
    const part = parts[id ?? '']?.Properties;
    return part === undefined ? '' : `${pathOf(part.ParentId.Ref)}/${part.PathPart}`;
  };
  return Object.values(resourcesOf(template, 'AWS::ApiGateway::Method')).map(({ Properties }) => ({
    method: Properties.HttpMethod,
    path: pathOf(Properties.ResourceId.Ref),
    authorization: Properties.AuthorizationType,
    apiKeyRequired: Properties.ApiKeyRequired ?? false,
    integration: Properties.Integration,
  }));
};
