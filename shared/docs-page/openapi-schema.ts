import * as v from 'valibot';

/** An object of the OpenAPI standard with any further members. */
const open = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(v.looseObject(entries), v.metadata({ additionalProperties: true }));

/** The response of GET /v1/openapi.json: an OpenAPI 3.0 document. `npm run openapi:check` validates the rest of it. */
export const openApiDocumentSchema = v.pipe(
  open({
    openapi: v.pipe(v.string(), v.examples(['3.0.3'])),
    info: open({
      title: v.pipe(v.string(), v.examples(['Buyer Linking'])),
      version: v.pipe(v.string(), v.examples(['1.0.0'])),
    }),
    paths: open({}),
  }),
  v.title('OpenApiDocument'),
);

export type OpenApiDocument = v.InferOutput<typeof openApiDocumentSchema>;
