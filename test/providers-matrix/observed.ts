import type { MatrixService, Reply } from './service.ts';

/** Everything that callers and the log saw in a test file, and what they must not see. */
export const observed = (service: () => MatrixService, logLines: readonly string[]) => {
  const personal = new Set<string>();
  const responses: string[] = [];
  let checkedLines = 0;

  const post = async (path: string, body: object): Promise<Reply> => {
    const reply = await service().call(path, body);
    responses.push(reply.text);
    return reply;
  };

  return {
    create: (person: object) => post('/v1/users', person),
    send(phone: string) {
      personal.add(phone.slice('+98'.length));
      return post('/v1/auth/otp/send', { phone });
    },
    async newBuyer(nationalId?: string) {
      const person = await service().newBuyer(nationalId);
      personal.add(person.national_id).add(person.phone.slice('+98'.length));
      return person;
    },
    /**
     * Fails if a log line since the last call holds a credential, phone, national id or code, or if a response holds a credential or code.
     * `least.codes`: how many codes must have been sent by now.
     */
    expectNothingPersonal(least: { readonly codes: number }): void {
      const credentials = credentialsIn(service().simulators.providerSecret);
      const codes = [...personal].flatMap((phone) =>
        service()
          .simulators.messages(`+98${phone}`)
          .map(({ code }) => code),
      );
      expect(credentials).toHaveLength(6);
      expect(personal.size).toBeGreaterThan(0);
      expect(codes.length).toBeGreaterThanOrEqual(least.codes);
      const log = logLines.slice(checkedLines).join('\n');
      checkedLines = logLines.length;
      expect(log).not.toBe('');
      for (const value of [...credentials, ...personal]) expect(log).not.toContain(value);
      // A number of milliseconds can have six digits too. A code would be in quotes or between spaces.
      for (const code of codes) expect(log).not.toMatch(new RegExp(`["\\s:=]${code}["\\s&]`));
      const text = responses.splice(0).join('\n');
      for (const value of [...credentials, ...codes]) expect(text).not.toContain(`"${value}"`);
    },
  };
};

const CREDENTIALS: readonly string[] = ['api_key', 'secret_key', 'token', 'template_id'];

const credentialsIn = (providerSecret: Readonly<Record<string, unknown>>): string[] =>
  Object.values(providerSecret)
    .flatMap((section) => Object.entries(section as Record<string, unknown>))
    .filter(([name]) => CREDENTIALS.includes(name))
    .map(([, value]) => String(value));

/** The parts of a response that a failure of a provider determines. */
export const summaryOf = ({ status, json, headers }: Reply) => ({
  status,
  code: json.code,
  retryAfter: /^[1-9][0-9]*$/.test(headers.get('retry-after') ?? ''),
});

const SLOW: readonly string[] = ['slow_headers', 'slow_body', 'slow'];

/** Times an attempt out after 50 ms if the provider never responds; otherwise an attempt never times out. */
export const optionsFor = (fault: string) =>
  SLOW.includes(fault) ? { options: { timeoutSignal: () => AbortSignal.timeout(50) } } : {};
