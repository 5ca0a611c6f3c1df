import * as v from 'valibot';

/** The answer of GET /v1/openapi.json: an OpenAPI 3.0 document. Its insides are held to the standard when it is made. */
export const openApiDocumentSchema = v.pipe(
  v.looseObject({
    openapi: v.pipe(v.string(), v.examples(['3.0.3'])),
    info: v.looseObject({
      title: v.pipe(v.string(), v.examples(['Buyer Linking'])),
      version: v.pipe(v.string(), v.examples(['1.0.0'])),
    }),
    paths: v.looseObject({}),
  }),
  v.title('OpenApiDocument'),
);

export type OpenApiDocument = v.InferOutput<typeof openApiDocumentSchema>;
