import type { Operation } from './document.ts';

/** The base URL in the samples. The page's script replaces it by the address of the page. */
export const SAMPLE_BASE_URL = 'http://localhost:3000';

/** The environment variable that holds the key, so that no key gets into a file or a shell history. */
export const KEY_VARIABLE = 'BUYER_LINKING_API_KEY';

/** The languages of the samples, in the order of their tabs. */
export const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;

export type Language = keyof typeof LANGUAGES;

const indent = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);

/** The example as an object literal of JavaScript: keys without quotes, strings in single quotes. */
const typescriptLiteral = (example: unknown): string =>
  JSON.stringify(example, null, 2)
    .replace(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replace(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => `'${text.replaceAll("'", "\\'")}'`)
    .replace(/([^{[,\s])$/gm, '$1,')
    .replace(/,$/, '');

/** Returns the URL of the sample: example values in the path, default values in the query. */
const urlOf = ({ path, parameters }: Operation): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(parameters.find((parameter) => parameter.name === name)?.schema.example),
  );
  const query = parameters
    .filter(({ in: location, schema }) => location === 'query' && schema.default !== undefined)
    .map(({ name, schema }) => `${name}=${schema.default}`);
  return `${SAMPLE_BASE_URL}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
};

const shellQuoted = (text: string): string => text.replaceAll("'", "'\\''");

const curl = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  return [
    `curl ${method === 'DELETE' ? '-X DELETE ' : ''}'${urlOf(operation)}'`,
    ...(takesKey ? [`-H "X-Api-Key: $${KEY_VARIABLE}"`] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${shellQuoted(indent(JSON.stringify(body.example, null, 2), 2))}'`,
        ]),
  ].join(' \\\n  ');
};

const isJson = ({ successes }: Operation): boolean => successes[0]?.mediaType === 'application/json';

const typescript = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  const headers = [
    ...(takesKey ? [`'X-Api-Key': process.env['${KEY_VARIABLE}'] ?? '',`] : []),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`headers: {\n  ${headers.join('\n  ')}\n},`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${typescriptLiteral(body.example)}),`]),
  ];
  const init = options.length === 0 ? '' : `, {\n  ${indent(options.join('\n'), 2)}\n}`;
  return [
    `const response = await fetch('${urlOf(operation)}'${init});`,
    'if (!response.ok) throw new Error(await response.text());',
    `console.log(await response.${isJson(operation) ? 'json' : 'text'}());`,
  ].join('\n');
};

const python = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  const headers = [
    ...(takesKey ? [`"X-Api-Key": os.environ["${KEY_VARIABLE}"],`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json",']),
  ];
  const modules = [
    ...(isJson(operation) ? ['json'] : []),
    ...(takesKey ? ['os'] : []),
    'sys',
    'urllib.error',
  ];
  const data = JSON.stringify(body?.example, null, 4);
  const options = [
    `"${urlOf(operation)}",`,
    ...(method === 'GET' ? [] : [`method="${method}",`]),
    ...(headers.length === 0 ? [] : [`headers={\n    ${headers.join('\n    ')}\n},`]),
    ...(body === undefined ? [] : [`data=json.dumps(${data}).encode(),`]),
  ];
  return [
    `import ${modules.join(', ')}, urllib.request`,
    '',
    `request = urllib.request.Request(\n    ${indent(options.join('\n'), 4)}\n)`,
    'try:',
    '    with urllib.request.urlopen(request, timeout=30) as response:',
    `        print(${isJson(operation) ? 'json.load(response)' : 'response.read().decode()'})`,
    'except urllib.error.HTTPError as error:',
    '    sys.exit(error.read().decode())',
  ].join('\n');
};

/** Returns a program in each language that sends the example of an operation. */
export const samplesOf = (operation: Operation): Readonly<Record<Language, string>> => ({
  curl: curl(operation),
  typescript: typescript(operation),
  python: python(operation),
});
