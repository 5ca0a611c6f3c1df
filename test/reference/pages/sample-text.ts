import { type Operation, operationsOf, withSchemas } from '#reference/pages/operations.ts';
import { SAMPLE_LANGUAGES, type SampleLanguage } from '#reference/pages/sample-programs.ts';
import { exampleRequest, SAMPLE_BASE_URL } from '#reference/pages/samples.ts';
import openApiDocument from '../../../openapi.json' with { type: 'json' };

/** The operations of the committed document. */
export const operations: readonly Operation[] = operationsOf(withSchemas(openApiDocument));

/** Returns the sample of an operation in a language, with the address of a service. */
export const sampleText = (operation: Operation, language: SampleLanguage, baseUrl: string): string => {
  const request = exampleRequest(operation);
  return SAMPLE_LANGUAGES[language].write({
    ...request,
    url: request.url.replace(SAMPLE_BASE_URL, baseUrl),
  });
};
