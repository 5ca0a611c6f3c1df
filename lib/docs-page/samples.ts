import { copyButton } from './block.ts';
import type { Operation } from './document.ts';
import { highlight } from './highlight.ts';
import { type Html, html, raw } from './html.ts';

/** The base URL in the samples. The page's script replaces it by the address of the page. */
export const SAMPLE_BASE_URL = 'http://localhost:3000';

/** The environment variable that holds the key, so that no key gets into a file or a shell history. */
export const KEY_VARIABLE = 'BUYER_LINKING_API_KEY';

const indent = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);

/** The example as an object literal of JavaScript: keys without quotes, strings in single quotes. */
const typescriptLiteral = (example: unknown): string =>
  JSON.stringify(example, null, 2)
    .replace(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replace(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => `'${text.replaceAll("'", "\\'")}'`)
    .replace(/([^{[,\s])$/gm, '$1,')
    .replace(/,$/, '');

/** Marks a value that follows what a reader types into the form. The characters are of the private use area, so no grammar splits them. */
const typed = (place: string, name: string, value: string): string =>
  `\uE000${place}.${name}\uE001${value}\uE002`;

const TYPED = /\uE000(\w+)\.(\w*)\uE001([^\uE002]*)\uE002/g;

/** Returns the example of a body with its values marked. */
const typedExample = (example: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(example as object).map(([name, value]) => [
      name,
      typeof value === 'string' ? typed('body', name, value) : value,
    ]),
  );

/** Returns the URL of the sample: example values in the path, default values in the query. */
const urlOf = ({ path, parameters }: Operation): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    typed('path', name, String(parameters.find((parameter) => parameter.name === name)?.schema.example)),
  );
  const query = parameters
    .filter(({ in: location, schema }) => location === 'query' && schema.default !== undefined)
    .map(({ name, schema }) => `${name}=${schema.default}`);
  const takesQuery = parameters.some(({ in: location }) => location === 'query');
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  return `${SAMPLE_BASE_URL}${filled}${takesQuery ? typed('query', '', search) : ''}`;
};

/** Returns the lines whose condition holds. */
const present = (...lines: readonly (string | false | undefined)[]): readonly string[] =>
  lines.filter((line) => line !== false && line !== undefined);

const curl = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  // What curl sends without -X.
  const standardMethod = body === undefined ? 'GET' : 'POST';
  const json = indent(body ? JSON.stringify(typedExample(body.example), null, 2) : '', 2);
  return present(
    `curl ${method === standardMethod ? '' : `-X ${method} `}'${urlOf(operation)}'`,
    takesKey && `-H "X-Api-Key: $${KEY_VARIABLE}"`,
    body && "-H 'Content-Type: application/json'",
    body && `-d '${json.replaceAll("'", "'\\''")}'`,
  ).join(' \\\n  ');
};

const isJson = ({ successes }: Operation): boolean => successes[0]?.mediaType === 'application/json';

const typescript = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  const headers = present(
    takesKey && `'X-Api-Key': process.env['${KEY_VARIABLE}'] ?? '',`,
    body && "'Content-Type': 'application/json',",
  );
  const options = present(
    method !== 'GET' && `method: '${method}',`,
    headers.length > 0 && `headers: {\n  ${headers.join('\n  ')}\n},`,
    body && `body: JSON.stringify(${typescriptLiteral(typedExample(body.example))}),`,
  );
  const init = options.length === 0 ? '' : `, {\n  ${indent(options.join('\n'), 2)}\n}`;
  return [
    `const response = await fetch('${urlOf(operation)}'${init});`,
    'if (!response.ok) throw new Error(await response.text());',
    `console.log(await response.${isJson(operation) ? 'json' : 'text'}());`,
  ].join('\n');
};

const python = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  const modules = present(isJson(operation) && 'json', takesKey && 'os', 'sys', 'urllib.error');
  const headers = present(
    takesKey && `"X-Api-Key": os.environ["${KEY_VARIABLE}"],`,
    body && '"Content-Type": "application/json",',
  );
  const request = present(
    `"${urlOf(operation)}",`,
    method !== 'GET' && `method="${method}",`,
    headers.length > 0 && `headers={\n    ${headers.join('\n    ')}\n},`,
    body && `data=json.dumps(${JSON.stringify(typedExample(body.example), null, 4)}).encode(),`,
  );
  return [
    `import ${modules.join(', ')}, urllib.request`,
    '',
    `request = urllib.request.Request(\n    ${indent(request.join('\n'), 4)}\n)`,
    'try:',
    '    with urllib.request.urlopen(request, timeout=30) as response:',
    `        print(${isJson(operation) ? 'json.load(response)' : 'response.read().decode()'})`,
    'except urllib.error.HTTPError as error:',
    '    sys.exit(error.read().decode())',
  ].join('\n');
};

/** The example as an array of PHP. */
const phpLiteral = (example: unknown): string =>
  typescriptLiteral(example)
    .replace(/^(\s*)(\w+):/gm, "$1'$2' =>")
    .replace(/^\{/, '[')
    .replace(/\}$/, ']');

const php = (operation: Operation): string => {
  const { method, body, takesKey } = operation;
  const headers = present(
    takesKey && `'X-Api-Key: ' . getenv('${KEY_VARIABLE}'),`,
    body && "'Content-Type: application/json',",
  );
  const options = present(
    method !== 'GET' && `CURLOPT_CUSTOMREQUEST => '${method}',`,
    headers.length > 0 && `CURLOPT_HTTPHEADER => [\n  ${headers.join('\n  ')}\n],`,
    body && `CURLOPT_POSTFIELDS => json_encode(${phpLiteral(typedExample(body.example))}),`,
    'CURLOPT_RETURNTRANSFER => true,',
    'CURLOPT_TIMEOUT => 30,',
  );
  return [
    '<?php',
    `$request = curl_init('${urlOf(operation)}');`,
    `curl_setopt_array($request, [\n  ${indent(options.join('\n'), 2)}\n]);`,
    '$response = curl_exec($request);',
    'if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) >= 400 || $response === false) {',
    '  fwrite(STDERR, $response ?: curl_error($request));',
    '  exit(1);',
    '}',
    'echo $response;',
  ].join('\n');
};

/** The languages of the samples, in the order of their tabs: `write` returns a program that sends the example of an operation. */
const LANGUAGES = {
  curl: { title: 'curl', grammar: 'sh', write: curl },
  typescript: { title: 'TypeScript', grammar: 'ts', write: typescript },
  python: { title: 'Python', grammar: 'python', write: python },
  php: { title: 'PHP', grammar: 'php', write: php },
} as const;

export type Language = keyof typeof LANGUAGES;

const withTypedValues = ({ html: markup }: Html): Html =>
  raw(markup.replace(TYPED, '<span data-typed="$1.$2">$3</span>'));

/** Returns the samples of an operation as tabs. Radio buttons select one, so they work by keyboard and without JavaScript. */
export const sampleTabs = (operation: Operation): Html => {
  const languages = Object.entries(LANGUAGES);
  return html`<fieldset class="samples"><legend>${operation.summary}: code samples</legend>
<div class="tabs">${languages.map(
    ([name, { title }]) => html`<label><input type="radio" name="${operation.id}-language"
 value="${name}" ${name === 'curl' && raw('checked')}><span>${title}</span></label>`,
  )}${copyButton('en')}</div>
${languages.map(
  ([name, { grammar, write }]) =>
    html`<pre data-language="${name}" tabindex="0"><code>${withTypedValues(highlight(write(operation), grammar))}</code></pre>`,
)}
</fieldset>`;
};
