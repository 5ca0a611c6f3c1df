import { describe, expect, test } from '@jest/globals';
import { probe } from '#lib/canary-probe.ts';

const responding = (status: number, body: unknown) => async () =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });

describe('the canary', () => {
  test('succeeds if the public URL publishes a key', async () => {
    const requested: string[] = [];
    await probe('https://api.example.com', async (url) => {
      requested.push(String(url));
      return Response.json({ keys: [{ kty: 'EC' }] });
    });
    expect(requested).toEqual(['https://api.example.com/.well-known/jwks.json']);
  });

  test.each([
    ['an error', responding(500, { code: 'internal' }), /500/],
    ['an empty key set', responding(200, { keys: [] }), /no public key/],
    ['another document', responding(200, {}), /no public key/],
    ['not JSON', responding(200, '<html>'), /JSON/],
  ])('fails if the response is %s', async (_, request, reason) => {
    await expect(probe('https://api.example.com', request)).rejects.toThrow(reason);
  });

  test('fails if the service is unreachable', async () => {
    const unreachable = () => Promise.reject(new Error('unreachable'));
    await expect(probe('https://api.example.com', unreachable)).rejects.toThrow('unreachable');
  });
});
