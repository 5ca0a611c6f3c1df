import { codedFailure, unreadableReply } from '#shared/providers/reply.ts';
import type { Health, UnavailableReason } from '#shared/providers/unavailable.ts';

const SITE = { provider: 'acme', operation: 'o' };

describe('a response in no documented form', () => {
  it.each<[number, UnavailableReason, UnavailableReason, Health]>([
    [500, 'upstream', 'upstream', 'down'],
    [502, 'upstream', 'upstream', 'down'],
    [401, 'credentials', 'credentials', 'unknown'],
    [403, 'blocked', 'blocked', 'unknown'],
    [429, 'quota', 'quota', 'unknown'],
    [200, 'malformed', 'no_verdict', 'unknown'],
    [307, 'malformed', 'no_verdict', 'unknown'],
    [404, 'malformed', 'no_verdict', 'unknown'],
    [499, 'malformed', 'no_verdict', 'unknown'],
  ])(
    'with HTTP %i is %s and the provider is down, or as JSON is %s and the provider is %4$s',
    (status, reason, reasonOfJson, healthOfJson) => {
      const failures = [undefined, {}, null].map((json) => unreadableReply(SITE, { status, json }));
      const summaries = failures.map((of) => [of.reason, of.health, of.delivery]);
      const ofJson = [reasonOfJson, healthOfJson, 'possibly_sent'];
      expect(summaries).toEqual([[reason, 'down', 'possibly_sent'], ofJson, ofJson]);
    },
  );
});

describe('an error in the documented form', () => {
  it.each<[number, UnavailableReason]>([
    [500, 'upstream'],
    [400, 'balance'],
    [200, 'rejected'],
  ])('with HTTP %i and a documented code was not sent, and the provider is up', (status, reason) => {
    const failure = codedFailure(SITE, { status, json: {} }, reason);
    expect([failure.reason, failure.delivery, failure.health]).toEqual([reason, 'not_sent', 'up']);
  });

  it.each<[number, UnavailableReason]>([
    [503, 'upstream'],
    [401, 'credentials'],
    [403, 'blocked'],
    [429, 'quota'],
    [400, 'no_verdict'],
  ])('with HTTP %i and an unknown code is %s, possibly sent, and the provider is up', (status, reason) => {
    const failure = codedFailure(SITE, { status, json: {} }, undefined);
    expect([failure.reason, failure.delivery, failure.health]).toEqual([reason, 'possibly_sent', 'up']);
  });
});
