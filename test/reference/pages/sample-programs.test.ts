import { coloredParts } from '#reference/pages/sample-colors.ts';
import { SAMPLE_LANGUAGES, type SampleLanguage } from '#reference/pages/sample-programs.ts';

const request = {
  method: 'POST',
  url: 'https://api.example.com/v1/users',
  takesKey: true,
  takesToken: false,
  returnsJson: true,
};

/** Returns the lines of a program that hold its body, without their indentation. */
const bodyIn = (language: SampleLanguage, body: object): string => {
  const program = SAMPLE_LANGUAGES[language].write({ ...request, body });
  const [, text = ''] =
    /(?:-d '|JSON\.stringify\(|json\.dumps\(|json_encode\()([\s\S]*?)(?:'$|\),\n|\)\.encode)/.exec(program) ??
    [];
  return text.replace(/\n */g, ' ');
};

describe('a value of JSON in a sample', () => {
  it.each([
    ['curl', `{ "a": "O'\\''Neil \\"S\\" \\\\" }`],
    ['typescript', `{ a: 'O\\'Neil "S" \\\\', }`],
    ['python', `{ "a": "O'Neil \\"S\\" \\\\", }`],
    ['php', `[ 'a' => 'O\\'Neil "S" \\\\', ]`],
  ] as const)('is a text with the quotes of %s', (language, written) => {
    expect(bodyIn(language, { a: `O'Neil "S" \\` })).toBe(written);
  });

  it.each([
    ['curl', '{ "a-b": [ 1, true, null, {} ], "c": { "d": false } }'],
    ['typescript', "{ 'a-b': [ 1, true, null, {}, ], c: { d: false, }, }"],
    ['python', '{ "a-b": [ 1, True, None, {}, ], "c": { "d": False, }, }'],
    ['php', "[ 'a-b' => [ 1, true, null, [], ], 'c' => [ 'd' => false, ], ]"],
  ] as const)('is written with the brackets and words of %s', (language, written) => {
    expect(bodyIn(language, { 'a-b': [1, true, null, {}], c: { d: false } })).toBe(written);
  });
});

describe('a request with an access token', () => {
  it('names the environment variable of the token in every language', () => {
    const header = {
      curl: '-H "Authorization: Bearer $ACCESS_TOKEN"',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample has the placeholder.
      typescript: "Authorization: `Bearer ${process.env['ACCESS_TOKEN']}`,",
      python: '"Authorization": "Bearer " + os.environ["ACCESS_TOKEN"],',
      php: "'Authorization: Bearer ' . getenv('ACCESS_TOKEN'),",
    };
    for (const language of Object.keys(header) as SampleLanguage[]) {
      const { write } = SAMPLE_LANGUAGES[language];
      expect(write({ ...request, takesToken: true, body: undefined })).toContain(header[language]);
      expect(write({ ...request, body: undefined })).not.toContain('Authorization');
    }
  });
});

describe('the colors of a sample', () => {
  const named = (text: string) => coloredParts(text).filter(([name]) => name !== undefined);

  it('keep the text as it is', () => {
    for (const { write } of Object.values(SAMPLE_LANGUAGES)) {
      const program = write({ ...request, body: { a: `O'Neil "S"` } });
      expect(
        coloredParts(program)
          .map(([, text]) => text)
          .join(''),
      ).toBe(program);
    }
  });

  it('tell names, strings, words, variables and numbers apart', () => {
    expect(named('{"a": "b: 1", "c": [true, -2.5]}')).toEqual([
      ['attr', '"a"'],
      ['string', '"b: 1"'],
      ['attr', '"c"'],
      ['keyword', 'true'],
      ['number', '-2.5'],
    ]);
    expect(named("$response = curl('x'); exit(1);")).toEqual([
      ['variable', '$response'],
      ['string', "'x'"],
      ['keyword', 'exit'],
      ['number', '1'],
    ]);
    expect(named('sys.exit(1)')).toEqual([['number', '1']]);
  });

  it('do not end at the quote that a shell needs within quotes', () => {
    expect(named(`-d 'O'\\''Neil'`)).toEqual([
      ['string', "'O'"],
      ['string', "'Neil'"],
    ]);
  });
});
