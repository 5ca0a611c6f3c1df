import { describe, expect, test } from '@jest/globals';
import { probe } from '#lib/canary-probe.ts';

const answering = (status: number, body: unknown) => async () =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });

describe('the canary', () => {
  test('is content with a published key, asked for by the public address', async () => {
    const asked: string[] = [];
    await probe('https://api.example.com', async (url) => {
      asked.push(String(url));
      return Response.json({ keys: [{ kty: 'EC' }] });
    });
    expect(asked).toEqual(['https://api.example.com/.well-known/jwks.json']);
  });

  test.each([
    ['an error', answering(500, { code: 'internal' }), /500/],
    ['no key', answering(200, { keys: [] }), /no public key/],
    ['another document', answering(200, {}), /no public key/],
    ['no JSON', answering(200, '<html>'), /JSON/],
  ])('fails at %s', async (_, ask, reason) => {
    await expect(probe('https://api.example.com', ask)).rejects.toThrow(reason);
  });

  test('fails if nobody answers', async () => {
    const nobody = () => Promise.reject(new Error('unreachable'));
    await expect(probe('https://api.example.com', nobody)).rejects.toThrow('unreachable');
  });
});
