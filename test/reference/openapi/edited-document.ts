import { breakingChanges, type Document } from '#reference/openapi/breaking-changes.ts';
import { buildDocument } from '#reference/openapi/document.ts';

// biome-ignore lint/suspicious/noExplicitAny: each case reaches into the document as a person would edit it.
export type Editable = any;

/** Returns the breaking changes of one edit of the real document. */
export const changesOf = (edit: (document: Editable) => void): readonly string[] => {
  const before = JSON.parse(JSON.stringify(buildDocument())) as Document;
  const changed = JSON.parse(JSON.stringify(before)) as Document;
  edit(changed);
  return breakingChanges(before, changed);
};

/** A query parameter of GET /v1/users. */
export const queryOf = (document: Editable, name: string) =>
  users(document).get.parameters.find((parameter: { name: string }) => parameter.name === name);

export const users = (document: Editable) => document.paths['/v1/users'];
export const schemas = (document: Editable) => document.components.schemas;
