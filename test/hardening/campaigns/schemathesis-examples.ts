import type { buildDocument } from '#openapi/document.ts';
import { call } from '../api.ts';
import type { CampaignSeller } from '../deployment.ts';
import { personNumber, type TestPerson } from '../people.ts';
import { sendCode } from '../sign-ins.ts';
import type { CampaignOptions } from './campaign.ts';

type Document = ReturnType<typeof buildDocument>;

/** The example of the document is a person too: the request with it must be 201. */
const EXAMPLE_PHONE = '+989990123456';

const FIRST_PERSON = 880_000;

interface Examples {
  readonly document: Document;
  /** Of a buyer who signed in. */
  readonly token: string;
}

const linked = async (
  { deployment, report, used }: CampaignOptions,
  { key }: CampaignSeller,
  person: TestPerson,
): Promise<string> => {
  used.nationalIds.add(person.national_id);
  used.phones.add(person.phone);
  const reply = await call(
    deployment.baseUrl(),
    { method: 'POST', path: '/v1/users', key, body: person },
    report,
  );
  return String(reply?.json.id);
};

/** A code that was sent to the phone, and not used. */
const codeOf = async (options: CampaignOptions, { key }: CampaignSeller, phone: string) => {
  const sent = await sendCode(options.deployment, { key, phone }, options);
  return { phone, code: String(sent?.code) };
};

/**
 * Returns the published document with examples that exist here: users to read, correct, check and remove, a code that was sent. With the
 * examples as they are published, which name no user, an operation returns 404.
 */
export const documentWithExamples = async (
  options: CampaignOptions,
  seller: CampaignSeller,
): Promise<Examples> => {
  const { deployment, report, used } = options;
  const people = [0, 1, 2, 3].map((index) => personNumber(FIRST_PERSON + index));
  const [corrected, removed, checked, buyer] = people as [TestPerson, TestPerson, TestPerson, TestPerson];
  await deployment.register([EXAMPLE_PHONE, ...people.map(({ phone }) => phone)]);
  const ids = [];
  for (const person of [corrected, removed, checked]) ids.push(await linked(options, seller, person));
  const signIn = await codeOf(options, seller, buyer.phone);
  const path = '/v1/auth/otp/verify';
  const verified = await call(
    deployment.baseUrl(),
    { method: 'POST', path, key: seller.key, body: signIn },
    report,
  );
  const token = String(verified?.json.access_token);
  used.tokens.add(token);
  const response = await fetch(`${deployment.baseUrl()}/v1/openapi.json`);
  const document = (await response.json()) as Document;
  // biome-ignore lint/suspicious/noExplicitAny: the examples are of every type.
  const operations = document.paths as any;
  const byId = operations['/v1/users/{id}'];
  byId.get.parameters[0].schema.example = ids[0];
  byId.patch.parameters[0].schema.example = ids[0];
  byId.delete.parameters[0].schema.example = ids[1];
  // Of three that exclude each other, one.
  for (const { name, schema } of operations['/v1/users'].get.parameters) {
    if (name !== 'phone') delete schema.example;
  }
  const checks = operations['/v1/users/{id}/checks'].post;
  checks.parameters[0].schema.example = ids[2];
  const bodyOf = (operation: { requestBody: { content: Record<string, { example: object }> } }) =>
    operation.requestBody.content['application/json'] as { example: object };
  const { display_name: _, ...person } = checked;
  bodyOf(checks).example = person;
  bodyOf(byId.patch).example = { display_name: 'Sara Rezaei', external_id: 'order:examples' };
  bodyOf(operations[path].post).example = await codeOf(options, seller, checked.phone);
  return { document, token };
};

interface HarEntry {
  readonly request: { readonly method: string; readonly url: string };
  readonly response: { readonly status: number };
}

/** `/v1/users/{id}` -> a pattern of the paths that requests to it have. */
const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);

interface Operation {
  readonly requestBody?: object;
  readonly parameters?: readonly { readonly schema: { readonly example?: unknown } }[];
}

/** Whether there is an example to send: the phase leaves out an operation without one, such as `get /v1/key`. */
const hasExample = ({ requestBody, parameters = [] }: Operation): boolean =>
  requestBody !== undefined || parameters.some(({ schema }) => schema.example !== undefined);

/** Returns the operations with examples of which no request in a HAR file got a 2xx: `get /v1/users/{id}`. */
export const operationsWithout2xx = ({ paths }: Document, har: string): readonly string[] => {
  const { entries } = (JSON.parse(har) as { readonly log: { readonly entries: readonly HarEntry[] } }).log;
  const successes = entries
    .filter(({ response: { status } }) => status >= 200 && status < 300)
    .map(({ request: { method, url } }) => ({ method: method.toLowerCase(), path: new URL(url).pathname }));
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, Operation>)
      .filter(([, operation]) => hasExample(operation))
      .filter(
        ([method]) => !successes.some((each) => each.method === method && pathPattern(path).test(each.path)),
      )
      .map(([method]) => `${method} ${path}`),
  );
};
