import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../api.ts';
import { personNumber, type TestPerson } from '../people.ts';
import type { Campaign } from './campaign.ts';

const FIRST_PERSON = 96_000;
const PEOPLE = 40;
const AT_ONCE = 8;
/** A link that waits for the timeout of an attempt, 6 s, takes longer. */
const LONGEST_MS = 5000;
/** Longer than a circuit stays open. */
const UNTIL_PROBE_MS = 11_000;

/** Providers that answer with HTTP 101 and keep the connection open: no call hangs, and their circuits close again. */
export const upgradingProvider: Campaign = {
  name: 'provider that upgrades',
  async run({ deployment, report, used, scale }) {
    const { simulators } = deployment;
    const people = Array.from({ length: Math.ceil(PEOPLE * scale) + 3 }, (_, index) =>
      personNumber(FIRST_PERSON + index),
    );
    const [first, probe, message, ...others] = people as [
      TestPerson,
      TestPerson,
      TestPerson,
      ...TestPerson[],
    ];
    await deployment.register(people.map(({ phone }) => phone));
    for (const { phone, national_id } of people) {
      used.phones.add(phone);
      used.nationalIds.add(national_id);
    }
    const seller = await deployment.newSeller('Upgrades');
    used.keys.add(seller.key);
    const post = (path: string, body: object) =>
      call(deployment.baseUrl(), { method: 'POST', path, key: seller.key, body }, report);

    simulators.setFault('jibit', 'upgrade');
    // An earlier campaign may have opened the circuit of the other registry. One call alone closes it; of several, it refuses all but one.
    await pause(UNTIL_PROBE_MS);
    await post('/v1/users', first);
    for (let index = 0; index < others.length; index += AT_ONCE) {
      const burst = others.slice(index, index + AT_ONCE).map((person) => post('/v1/users', person));
      for (const reply of await Promise.all(burst)) {
        report.operation('links beside a provider that upgrades', reply !== undefined);
        const isPrompt = reply?.status === 201 && reply.ms < LONGEST_MS;
        report.expect(
          'upgrade: the other registry answers at once',
          isPrompt,
          () => `${reply?.status} after ${reply?.ms} ms`,
        );
      }
    }
    simulators.setFault('jibit', undefined);
    await pause(UNTIL_PROBE_MS);
    const callsBefore = simulators.calls().jibit.identity ?? 0;
    await post('/v1/users', probe);
    const callsAfter = simulators.calls().jibit.identity ?? 0;
    report.expect(
      'upgrade: the provider is called again when it is well',
      callsAfter > callsBefore,
      () => `${callsAfter} calls`,
    );

    simulators.setFault('kavenegar', 'upgrade');
    const sent = await post('/v1/auth/otp/send', { phone: message.phone });
    simulators.setFault('kavenegar', undefined);
    const isPossiblySent = sent?.json?.code === 'sms_unavailable' && sent.ms < LONGEST_MS;
    report.expect(
      'upgrade: a message counts as possibly sent, at once',
      isPossiblySent,
      () => `${sent?.status} after ${sent?.ms} ms`,
    );
  },
};
