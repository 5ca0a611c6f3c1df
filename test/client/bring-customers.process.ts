/** The program that links the customers of a file, against a server that answers as the test says. It needs python3. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import { type InputError, PROBLEMS, type ProblemCode, problemBody } from '#shared/problems.ts';
import { exportedFiles, UNREADABLE } from '#test/exported-files.ts';
import { newPerson } from '#test/generated-people.ts';
import { describeWithPython } from './with-python.ts';

const PROGRAM = fileURLToPath(new URL('../../client/python/bring_customers.py', import.meta.url));
/** Forks a Python that has imported what the program imports, which takes a tenth of a second. */
const FORKS = fileURLToPath(new URL('forks.py', import.meta.url));
const HEADER = ['customer', 'national id', 'birth date', 'phone', 'name'];

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const LINKED: Answer = { status: 201, body: { id: 'usr_1' } };
const KNOWN: Answer = { status: 200, body: { id: 'usr_2' } };

const problemOf = (code: ProblemCode, errors?: readonly InputError[]): Answer => ({
  status: PROBLEMS[code].status,
  body: problemBody(code, 'req-1', { errors, retryAfterSeconds: 0 }),
  headers: { 'Retry-After': '0' },
});

const invalid = (field: string): Answer =>
  problemOf('validation_failed', [{ pointer: `#/${field}`, code: 'invalid', detail: 'Must be …' }]);

const KEY = {
  plan: 'free',
  limits: [
    { name: 'free', maximum: 600_000 },
    { name: 'paid-checks-per-day', maximum: 500 },
  ],
};

let server: LoopbackServer;
let folder: string;
let [answers, bodies]: [Answer[], Record<string, string>[]] = [[], []];

beforeAll(async () => {
  server = await listenOnLoopback(0, async (request, response) => {
    const chunks = await Array.fromAsync(request);
    const body = Buffer.concat(chunks).toString();
    if (body !== '') bodies.push(JSON.parse(body));
    const isKey = request.url === '/v1/key';
    const answer = isKey ? { status: 200, body: KEY } : (answers.shift() ?? LINKED);
    response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(answer.body));
  });
});

afterAll(() => server?.close());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bring-customers-'));
});

afterEach(() => rm(folder, { recursive: true }));

const environment = (port: number) => ({
  ...process.env,
  BUYER_LINKING_URL: `http://localhost:${port}`,
  BUYER_LINKING_API_KEY: 'blk_test_of_a_test',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONIOENCODING: 'utf-8',
  // Unbuffered, a line and its end are written apart: Ctrl-C could come between them.
  PYTHONUNBUFFERED: '',
});

interface Run {
  readonly args?: readonly string[];
  readonly port?: number;
  /** A program in Python that starts the program. */
  readonly starter?: string;
  readonly onOutput?: (text: string, child: ChildProcess) => void;
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** A Python that runs the program in a fork for each line of its stdin. */
const startForks = () => {
  const child = spawn('python3', [FORKS, PROGRAM], {
    env: environment(server.port),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
};

let forks: ReturnType<typeof startForks> | undefined;
afterAll(async () => {
  if (forks === undefined) return;
  const ended = once(forks.child, 'exit');
  forks.child.stdin.end();
  expect(await ended).toEqual([0, null]);
});

/** Runs the program in a fork, to its end. */
const inFork = async (args: readonly string[], port: number): Promise<Ended> => {
  forks ??= startForks();
  const { BUYER_LINKING_URL: url } = environment(port);
  forks.child.stdin.write(`${JSON.stringify({ args, cwd: folder, url })}\n`);
  const { value, done } = await forks.lines.next();
  if (done) throw new Error('the Python of the forks ended');
  return JSON.parse(value);
};

/** Runs the program in the folder of the test, with these answers to its links; all others are linked. */
const bring = async (replies: readonly Answer[] = [], run: Run = {}): Promise<Ended> => {
  const { args = ['customers.csv'], port = server.port, starter, onOutput } = run;
  [answers, bodies] = [[...replies], []];
  if (starter === undefined && onOutput === undefined) return inFork(args, port);
  const started = starter === undefined ? [] : ['-c', starter, 'python3'];
  const child = spawn('python3', [...started, PROGRAM, ...args], {
    cwd: folder,
    env: environment(port),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    onOutput?.(text, child);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const [code] = await once(child, 'close');
  return { code, out, error };
};

const save = (content: string | Buffer): Promise<void> => writeFile(join(folder, 'customers.csv'), content);

const csvOf = (...rows: readonly (readonly string[])[]): string =>
  [HEADER, ...rows].map((row) => `${row.join(',')}\n`).join('');

const results = async (): Promise<Record<string, string>[]> =>
  parse(await readFile(join(folder, 'results.csv')), { columns: true, bom: true });

const codes = async (): Promise<string[]> => (await results()).map(({ code }) => String(code));

/** A generated customer, as a row and as the body of its link. */
const newCustomer = (number: string, change: Partial<ReturnType<typeof newPerson>> = {}) => {
  const person = { ...newPerson(), ...change };
  const { national_id, birth_date, phone, display_name } = person;
  return {
    row: [number, national_id, birth_date, phone, display_name],
    body: { ...person, external_id: `customer:${number}` },
  };
};

describeWithPython('the file of customers', () => {
  const customers = [newCustomer('1'), newCustomer('2', { display_name: 'سارا احمدی' })];
  const rows = customers.map(({ row }) => row);

  it.each(exportedFiles([HEADER, ...rows]))('is read with $form', async ({ bytes }) => {
    await save(bytes);
    expect(await bring()).toMatchObject({ code: 0, error: '', out: expect.stringContaining('2 linked') });
    expect(bodies).toEqual(customers.map(({ body }) => body));
  });

  it.each(UNREADABLE)('is refused before a request: $form', async ({ bytes }) => {
    await save(bytes);
    const error = 'customers.csv is neither UTF-8 nor UTF-16. Save it as "CSV UTF-8".\n';
    expect(await bring()).toEqual({ code: 1, out: '', error });
    expect(bodies).toEqual([]);
  });

  it.each([
    ['has no column national id. Its first line has: customer, id.', 'customer;id\n1;2\n'],
    ['has 2 columns customer. Its first line has: customer, Customer.', 'customer;Customer\n1;2\n'],
    ['has no column customer. Its first line must have the names of the columns.', '1;۹۹۹۰۰۱۰۱۶۱\n'],
    ['has a quote that does not end, or text beside a quoted cell: line 3.', `${HEADER}\n1,2,3,4,"5\n6`],
    ['is empty.', '\r\n ; \r\n'],
  ])('is refused before a request when it %s', async (fault, content) => {
    await save(content);
    expect(await bring()).toEqual({ code: 1, out: '', error: `customers.csv ${fault}\n` });
    expect(bodies).toEqual([]);
  });

  it('has columns of any order and spelling, or of a name that --column tells, and the delimiter outside of quotes', async () => {
    const [number, id, date, phone, name] = rows[0] ?? [];
    const header = 'Mobile;BIRTH_DATE ;National-ID;نام;Customer;"of, the, delimiters, that, it, quotes"';
    await save(`${header}\n${phone};${date};${id};${name};${number}\n`);
    const told = ['customers.csv', '--column', 'phone=mobile', '--column', 'name=نام'];
    expect(await bring([], { args: told })).toMatchObject({ code: 0, error: '' });
    expect(bodies).toEqual([customers[0]?.body]);
  });

  it.each([
    ['no file', []],
    ['an unknown field', ['customers.csv', '--column', 'mobile=phone']],
    ['a column without a name', ['customers.csv', '--column', 'phone=']],
  ])('is asked for in the usage when the arguments are %s', async (_case, args) => {
    expect(await bring([], { args })).toMatchObject({ code: 2, error: expect.stringMatching(/^usage: /) });
  });

  it('that cannot be read is one sentence', async () => {
    const error = 'nowhere.csv cannot be read: No such file or directory.\n';
    expect(await bring([], { args: ['nowhere.csv'] })).toEqual({ code: 1, out: '', error });
  });
});

describeWithPython('a row', () => {
  it('that is short has empty cells; one of delimiters only is counted as blank', async () => {
    await save(`${csvOf(['1'])},,,,\n\n \u200f,\n`);
    const { out } = await bring([invalid('phone')]);
    expect(out).toMatch(/^0 linked, 0 known, 1 others: see results\.csv\n3 blank rows\n$/m);
    expect(bodies).toEqual([
      { national_id: '', birth_date: '', phone: '', display_name: '', external_id: 'customer:1' },
    ]);
    expect(await codes()).toEqual(['validation_failed phone invalid']);
  });

  it('that is wider than the header is not sent, and noted once', async () => {
    const { row } = newCustomer('1');
    await save(csvOf([...row, 'Reza']));
    await bring();
    await bring();
    expect(bodies).toEqual([]);
    expect(await codes()).toEqual(['too_many_cells']);
  });

  it('without a number, with the national id as its number, or with one that the service refuses, is linked without an external id', async () => {
    const [none, refused, other] = [newCustomer(''), newCustomer('09990001001'), newCustomer('3')];
    const ids = ['0013542419', '13542419', '\u200f001-354241-9'].map((id) => newCustomer(id));
    const personal = ids.map(({ row }) => row.with(1, '۰۰۱۳۵۴۲۴۱۹'));
    await save(csvOf(none.row, refused.row, other.row, ...personal));
    const { out } = await bring([LINKED, invalid('external_id')]);
    expect(bodies.map(({ external_id }) => external_id)).toEqual([
      undefined,
      'customer:09990001001',
      undefined,
      'customer:3',
      ...ids.map(() => undefined),
    ]);
    expect(out).toContain('6 linked');
    expect(out).toContain(
      '5 without their number, which is empty, their national id or refused by the service',
    );
  });

  it.each([
    [8, '0013542419', '13542419', true],
    [9, '0123456789', '123456789', true],
    [8, '0013542419', '۱۳۵۴۲۴۱۹', true],
    [8, '13542418', '13542418', false],
    [7, '1354241', '1354241', false],
  ])('with a national id of %d digits is sent with %s', async (_digits, sent, cell, isRestored) => {
    await save(csvOf(newCustomer('1', { national_id: cell }).row));
    const { out } = await bring();
    expect(bodies[0]?.national_id).toBe(sent);
    expect(out.includes('zeros were restored')).toBe(isRestored);
  });
});

describeWithPython('a later run', () => {
  const run = async (...replies: readonly Answer[]) => {
    const { code, out } = await bring(replies);
    return { code, out, sent: bodies.map(({ external_id = '' }) => external_id.replace('customer:', '')) };
  };

  it('sends no row again with a final code, however its cells are written', async () => {
    const final = [
      'user_conflict',
      'external_id_conflict',
      'identity_mismatch',
      'phone_not_owned',
      'link_refused',
    ];
    const people = ['1', '2', ...final].map((number) => newCustomer(number).row);
    await save(csvOf(...people));
    const problems = final.map((code) => problemOf(code as ProblemCode));
    await run(LINKED, KNOWN, ...problems);
    const respelled = people.map(([number, id = '', date = '', phone = '', name]) => [
      ` ${number}`,
      `${id.slice(0, 3)}-${id.slice(3, 9)}-${id.slice(9)}`,
      date.replace('1370/01/', '1370-1-'),
      phone.replace('+98', '0098 ').replace('999', '999 '),
      `\u200f${name} `,
    ]);
    await save(csvOf(...respelled));
    expect(await run()).toMatchObject({ code: 0, sent: [] });
    expect((await run()).out).toContain('1 linked, 1 known, 5 others: see results.csv');
  });

  it('sends a row that the service refused again only when a cell is written in another way', async () => {
    const [tel, id, same] = ['1', '2', '3'].map((number) => newCustomer(number).row) as string[][];
    const refused = [
      tel?.with(3, `tel:${tel[3]}`),
      id?.with(1, `${id[1]?.slice(0, 3)} ${id[1]?.slice(3)}`),
      same,
    ];
    await save(csvOf(...(refused as string[][])));
    await run(invalid('phone'), invalid('national_id'), invalid('birth_date'));
    expect((await run()).sent).toEqual([]);
    await save(csvOf(...([tel, id, same] as string[][])));
    expect(await run()).toMatchObject({
      sent: ['1', '2'],
      out: expect.stringContaining('2 linked, 0 known, 1 others'),
    });
  });

  it('sends a corrected row, but not one whose person is linked', async () => {
    const rows = ['1', '2'].map((number) => newCustomer(number).row);
    await save(csvOf(...rows));
    await run(LINKED, invalid('birth_date'));
    await save(csvOf(...rows.map((row) => [...row.slice(0, 2), '1371/1/1', ...row.slice(3)])));
    expect((await run()).sent).toEqual(['2']);
  });

  it('sends rows that were never tried first, and buyers who are not registered last', async () => {
    const rows = ['1', '2', '3'].map((number) => newCustomer(number).row);
    await save(csvOf(...rows));
    await run(problemOf('buyer_not_registered'), problemOf('body_too_large'), LINKED);
    await save(csvOf(...rows, newCustomer('4').row));
    expect(await run()).toMatchObject({ sent: ['4', '2', '1'], out: expect.stringContaining('4 linked') });
  });

  it('goes on after Ctrl-C, and the one before it said how many are left', async () => {
    const rows = ['1', '2', '3'].map((number) => newCustomer(number).row);
    await save(csvOf(...rows));
    const limited = problemOf('rate_limit_exceeded');
    const hour = {
      ...limited,
      body: { ...limited.body, reason: 'refused-links-per-hour', retry_after: 3000 },
    };
    const { code, out, error } = await bring([LINKED, ...Array<Answer>(4).fill(hour)], {
      onOutput: (text, child) => text.includes('goes on at') && child.kill('SIGINT'),
    });
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(
        /The limit refused-links-per-hour is used up: goes on at \d\d:\d\d\.\n1 linked, 0 known, 0 others: see results\.csv\n2 not tried yet\n$/,
      ),
    });
    expect(error).toMatch(/^Stopped\. Run the program again to go on\.$/m);
    expect(error).not.toContain('Traceback');
    expect((await run()).sent).toEqual(['2', '3']);
  });
});

describeWithPython('a run', () => {
  const five = ['1', '2', '3', '4', '5', '6'].map((number) => newCustomer(number).row);

  it.each<[string, Answer]>([
    ['no verdict', problemOf('verification_unavailable')],
    ['a page of a proxy', { status: 413, body: {} }],
  ])('ends after five links in a row without a result: %s', async (_case, answer) => {
    await save(csvOf(...five));
    const replies = Array<Answer>(5).fill(answer);
    expect(await bring([answer, LINKED, ...replies])).toMatchObject({ code: 0 });
    await rm(join(folder, 'results.csv'));
    expect(await bring(replies)).toMatchObject({
      code: 1,
      error: 'Five links in a row had no result. Run the program again later.\n',
      out: expect.stringContaining('0 linked, 0 known, 5 others: see results.csv\n1 not tried yet'),
    });
  });

  it('does not end after any number of buyers who are not registered', async () => {
    await save(csvOf(...five));
    const replies = Array<Answer>(6).fill(problemOf('buyer_not_registered'));
    expect(await bring(replies)).toMatchObject({ code: 0, error: '' });
    expect(await codes()).toHaveLength(6);
  });

  it.each(['invalid_api_key', 'insufficient_scope'] as const)(
    'ends at %s before it writes the row, with one sentence',
    async (code) => {
      await save(csvOf(...five));
      const { code: exit, error } = await bring([LINKED, problemOf(code)]);
      expect([exit, error]).toEqual([
        1,
        expect.stringMatching(`^The key cannot link customers: ${code}: [^\n]+\n$`),
      ]);
      expect(await codes()).toEqual(['linked']);
    },
  );

  it('ends with the address if the service is away', async () => {
    const closed = await listenOnLoopback(0, async () => {});
    await closed.close();
    await save(csvOf(...five));
    const { code, out, error } = await bring([], { port: closed.port });
    expect([code, out]).toEqual([1, '']);
    expect(error.trimEnd().split('\n').at(-1)).toMatch(/^GET http:\/\/localhost:\d+\/v1\/key: no response: /);
  });

  it('shows its progress in a terminal, as numbers', async () => {
    await save(csvOf(...five));
    const { out: screen } = await bring([], { starter: 'import pty, sys; pty.spawn(sys.argv[1:])' });
    expect(screen).toContain('0 of 6\r1 of 6\r2 of 6\r3 of 6\r4 of 6\r5 of 6\r6 linked, 0 known, 0 others');
  });
});

describeWithPython('the results', () => {
  const one = newCustomer('1', { display_name: 'سارا' }).row;
  const file = () => join(folder, 'results.csv');

  it('have the five cells, the code and the user, for their owner alone', async () => {
    await save(csvOf(one));
    await bring([{ status: 409, body: problemBody('user_conflict', 'req-1', { user_id: 'usr_9' }) }]);
    expect(await results()).toEqual([
      {
        ...Object.fromEntries(HEADER.map((name, at) => [name, one[at]])),
        code: 'user_conflict',
        user_id: 'usr_9',
      },
    ]);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    await chmod(file(), 0o644);
    await bring();
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it.each<[string, (text: string) => string | Buffer]>([
    ['semicolons', (text) => text.replaceAll(',', ';')],
    ['UTF-16', (text) => Buffer.from(text, 'utf16le')],
    ['no mark of UTF-8', (text) => text.slice(1)],
    ['another column', (text) => text.replace('phone', 'mobile')],
    ['a row of fewer cells', (text) => `${text}1,2\r\n`],
    ['half of a line at the end', (text) => text.slice(0, -2)],
  ])('of another form are refused before a request, and left as they are: %s', async (_form, change) => {
    await save(csvOf(one));
    await bring();
    const changed = change(await readFile(file(), 'utf8'));
    await writeFile(file(), changed);
    expect(await bring()).toEqual({
      code: 1,
      out: '',
      error:
        'results.csv has another form than this program writes. Move it away: a run without it links nobody twice.\n',
    });
    expect(bodies).toEqual([]);
    expect(await readFile(file())).toEqual(Buffer.from(changed));
  });

  it('that cannot be written end the run with one sentence, and no half of a line', async () => {
    await save(csvOf(one, ...Array.from({ length: 20 }, (_, at) => newCustomer(`${at}`).row)));
    const limit = 'import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))';
    const { code, error } = await bring([], {
      starter: `${limit}; import os, sys; os.execvp(sys.argv[1], sys.argv[1:])`,
    });
    expect([code, error]).toEqual([
      1,
      'results.csv cannot be written: the disk is full. Run the program again then: it links nobody twice.\n',
    ]);
    const written = await codes();
    expect(written.length).toBeGreaterThan(3);
    expect(await bring()).toMatchObject({ code: 0, out: expect.stringContaining('21 linked') });
    expect(bodies).toHaveLength(21 - written.length);
  });
});
