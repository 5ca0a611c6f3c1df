import { type Operation, problemsOf, resolve, type Schema, successesOf } from './openapi.ts';

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
};

const typeOf = (schema: Schema): string => {
  const { type = 'any', nullable, items, minimum, maximum, ...rules } = resolve(schema);
  const most = maximum === Number.MAX_SAFE_INTEGER ? '' : maximum;
  const range = minimum === undefined || maximum === undefined ? '' : ` ${minimum}–${most}`;
  const name = rules.enum ? rules.enum.map((value) => `\`${value}\``).join(', ') : `${type}${range}`;
  const ofItems = items === undefined ? '' : ` of ${typeOf(items)}`;
  const byDefault = rules.default === undefined ? '' : `, default ${rules.default}`;
  return `${name}${ofItems}${nullable ? ' or null' : ''}${byDefault}`;
};

/** What a field says of itself: in a request that it is required, in a response that it may be missing. */
type Note = (isRequired: boolean) => string;
const inRequest: Note = (isRequired) => (isRequired ? 'Required. ' : '');
const inResponse: Note = (isRequired) => (isRequired ? '' : 'Not in each response. ');

const rowOf = (name: string, schema: Schema, note: string): readonly string[] => [
  `\`${name}\``,
  typeOf(schema),
  `${note}${schema.description ?? resolve(schema).description ?? ''}`.trim(),
];

/** Returns a row for each field, those of objects within it included: `data[].id`. */
const rowsOf = (schema: Schema, note: Note, prefix = ''): readonly (readonly string[])[] => {
  const { properties = {}, required = [] } = resolve(schema);
  return Object.entries(properties).flatMap(([name, field]) => {
    const { items } = resolve(field);
    const path = `${prefix}${name}`;
    const within = items ? rowsOf(items, note, `${path}[].`) : rowsOf(field, note, `${path}.`);
    return [rowOf(path, field, note(required.includes(name))), ...within];
  });
};

const FIELDS = ['field', 'type', 'description'];

const fieldsOf = ({ content = {} }: NonNullable<Operation['requestBody']>, note: Note): string => {
  const [[mediaType, body] = []] = Object.entries(content);
  if (mediaType === undefined || body === undefined) return 'No body.';
  const rows = rowsOf(body.schema, note);
  return rows.length === 0 ? `\`${mediaType}\`` : table(FIELDS, rows);
};

/** Returns the problems of an operation, each with a link to its row of Errors. */
export const problemsMarkdown = (operation: Operation): string => {
  const rows = problemsOf(operation).map(({ code, status, detail }) => [
    `[\`${code}\`](../errors.md#${code})`,
    status,
    detail,
  ]);
  return `## Problems\n\n${table(['code', 'status', 'meaning'], rows)}\n`;
};

/** Returns the page of an operation as Markdown, made from the OpenAPI document. */
export const operationMarkdown = (operation: Operation): string => {
  const { method, path, summary, description, parameters = [], requestBody } = operation;
  const rows = parameters.map(({ name, schema, required, ...parameter }) =>
    rowOf(name, { ...schema, ...parameter }, inRequest(required)),
  );
  return [
    `# ${method} ${path}`,
    `${summary}.`,
    description,
    ...(rows.length === 0 ? [] : ['## Parameters', table(FIELDS, rows)]),
    ...(requestBody === undefined ? [] : ['## Request body', fieldsOf(requestBody, inRequest)]),
    ...successesOf(operation).flatMap(([status, response]) => [
      `## Response ${status}`,
      response.description,
      fieldsOf(response, inResponse),
    ]),
    problemsMarkdown(operation),
  ].join('\n\n');
};
