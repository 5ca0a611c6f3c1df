/** Programs that send a request, in each language of the samples. The pages are built with them, and the page's script follows the forms with them. */

/** The environment variable that holds the key, so that no key gets into a file or a shell history. */
export const KEY_VARIABLE = 'BUYER_LINKING_API_KEY';

/** The one that holds the access token of a buyer. */
export const TOKEN_VARIABLE = 'ACCESS_TOKEN';

/** A request as a sample sends it. */
export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly takesKey: boolean;
  readonly takesToken: boolean;
  /** A JSON object. */
  readonly body: object | undefined;
  readonly returnsJson: boolean;
}

/** How a language writes JSON. */
interface Notation {
  readonly text: (value: string) => string;
  readonly key: (name: string) => string;
  /** Its words and brackets where they differ from those of JSON. */
  readonly words?: Readonly<Record<string, string>>;
  readonly spaces: number;
}

/** A name with its colon, a text, a word or a bracket. */
const TOKEN = /("(?:[^"\\]|\\.)*")(:)?|\b[a-z]+\b|[{}]/g;

/** Returns a value of JSON as a literal, with a line and a comma for each member. */
const literal = (value: object, { text, key, words = {}, spaces }: Notation): string =>
  JSON.stringify(value, null, spaces)
    .replace(/(?<![[{,])\n/g, ',\n')
    .replace(TOKEN, (token, quoted?: string, colon?: string) => {
      if (quoted === undefined) return words[token] ?? token;
      return colon === undefined ? text(JSON.parse(quoted)) : key(JSON.parse(quoted));
    });

const indent = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);

/** Returns the lines whose condition holds. */
const present = (...lines: readonly (string | false | undefined)[]): readonly string[] =>
  lines.filter((line) => line !== false && line !== undefined);

const curl = ({ method, url, takesKey, takesToken, body }: SampleRequest): string => {
  // What curl sends without -X.
  const standardMethod = body === undefined ? 'GET' : 'POST';
  const json = body && indent(JSON.stringify(body, null, 2), 2).replaceAll("'", "'\\''");
  return present(
    `curl ${method === standardMethod ? '' : `-X ${method} `}'${url}'`,
    takesKey && `-H "X-Api-Key: $${KEY_VARIABLE}"`,
    takesToken && `-H "Authorization: Bearer $${TOKEN_VARIABLE}"`,
    body && "-H 'Content-Type: application/json'",
    body && `-d '${json}'`,
  ).join(' \\\n  ');
};

const singleQuoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

const TYPESCRIPT: Notation = {
  text: singleQuoted,
  key: (name) => `${/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)}:`,
  spaces: 2,
};

const typescript = ({ method, url, takesKey, takesToken, body, returnsJson }: SampleRequest): string => {
  const headers = present(
    takesKey && `'X-Api-Key': process.env['${KEY_VARIABLE}'] ?? '',`,
    takesToken && `Authorization: \`Bearer \${process.env['${TOKEN_VARIABLE}']}\`,`,
    body && "'Content-Type': 'application/json',",
  );
  const options = present(
    method !== 'GET' && `method: '${method}',`,
    headers.length > 0 && `headers: {\n  ${headers.join('\n  ')}\n},`,
    body && `body: JSON.stringify(${literal(body, TYPESCRIPT)}),`,
  );
  const init = options.length === 0 ? '' : `, {\n  ${indent(options.join('\n'), 2)}\n}`;
  return [
    `const response = await fetch('${url}'${init});`,
    'if (!response.ok) throw new Error(await response.text());',
    `console.log(await response.${returnsJson ? 'json' : 'text'}());`,
  ].join('\n');
};

const PYTHON: Notation = {
  text: (value) => JSON.stringify(value),
  key: (name) => `${JSON.stringify(name)}:`,
  words: { true: 'True', false: 'False', null: 'None' },
  spaces: 4,
};

const python = ({ method, url, takesKey, takesToken, body, returnsJson }: SampleRequest): string => {
  const modules = present(
    (returnsJson || body !== undefined) && 'json',
    takesKey && 'os',
    'sys',
    'urllib.error',
  );
  const headers = present(
    takesKey && `"X-Api-Key": os.environ["${KEY_VARIABLE}"],`,
    takesToken && `"Authorization": "Bearer " + os.environ["${TOKEN_VARIABLE}"],`,
    body && '"Content-Type": "application/json",',
  );
  const request = present(
    `"${url}",`,
    method !== 'GET' && `method="${method}",`,
    headers.length > 0 && `headers={\n    ${headers.join('\n    ')}\n},`,
    body && `data=json.dumps(${literal(body, PYTHON)}).encode(),`,
  );
  return [
    `import ${modules.join(', ')}, urllib.request`,
    '',
    `request = urllib.request.Request(\n    ${indent(request.join('\n'), 4)}\n)`,
    'try:',
    '    with urllib.request.urlopen(request, timeout=30) as response:',
    `        print(${returnsJson ? 'json.load(response)' : 'response.read().decode()'})`,
    'except urllib.error.HTTPError as error:',
    '    sys.exit(error.read().decode())',
  ].join('\n');
};

const phpQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

const PHP: Notation = {
  text: phpQuoted,
  key: (name) => `${phpQuoted(name)} =>`,
  words: { '{': '[', '}': ']' },
  spaces: 2,
};

const php = ({ method, url, takesKey, takesToken, body }: SampleRequest): string => {
  const headers = present(
    takesKey && `'X-Api-Key: ' . getenv('${KEY_VARIABLE}'),`,
    takesToken && `'Authorization: Bearer ' . getenv('${TOKEN_VARIABLE}'),`,
    body && "'Content-Type: application/json',",
  );
  const options = present(
    method !== 'GET' && `CURLOPT_CUSTOMREQUEST => '${method}',`,
    headers.length > 0 && `CURLOPT_HTTPHEADER => [\n  ${headers.join('\n  ')}\n],`,
    body && `CURLOPT_POSTFIELDS => json_encode(${literal(body, PHP)}),`,
    'CURLOPT_RETURNTRANSFER => true,',
    'CURLOPT_TIMEOUT => 30,',
  );
  return [
    '<?php',
    `$request = curl_init('${url}');`,
    `curl_setopt_array($request, [\n  ${indent(options.join('\n'), 2)}\n]);`,
    '$response = curl_exec($request);',
    'if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) >= 400 || $response === false) {',
    '  fwrite(STDERR, $response ?: curl_error($request));',
    '  exit(1);',
    '}',
    'echo $response;',
  ].join('\n');
};

/** The languages of the samples, in the order of their tabs. `write` returns a program that sends a request. */
export const SAMPLE_LANGUAGES = {
  curl: { title: 'curl', write: curl },
  typescript: { title: 'TypeScript', write: typescript },
  python: { title: 'Python', write: python },
  php: { title: 'PHP', write: php },
} as const;

export type SampleLanguage = keyof typeof SAMPLE_LANGUAGES;
