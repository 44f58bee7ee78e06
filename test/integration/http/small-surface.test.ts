import { ParleyError } from '@parley/core/domain/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Proof, rawBody, route } from '../../../services/api/src/http/route.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';

// Forms, sessions and pages of a surface are proven by the connect pages, which have all of them.

const PAGE = 'https://page.example';

/** The vendor "acme" signs with its name. */
const signed: Proof<string> = {
  by: 'signature',
  verifierOf: ({ vendor = '' }) =>
    vendor !== 'acme'
      ? undefined
      : (_body, { headers }) => {
          if (headers['x-signature'] === vendor) return vendor;
          throw new ParleyError('unauthenticated', 'The signature is wrong.');
        },
};
const hook = route({
  method: 'POST',
  path: '/hooks/:vendor',
  proof: signed,
  body: rawBody(100),
  handle: async ({ caller, body }) => ({ type: 'text', status: 200, headers: {}, body: `${caller} ${body}` }),
});
const page = route({
  method: 'GET',
  path: '/desk/:id',
  proof: { by: 'session', read: ({ headers }) => headers.cookie },
  handle: () => Promise.reject(new Error('unexpected')),
  refuse: (_error, { head }) => ({ type: 'text', status: 500, headers: {}, body: `See ${head.requestId}.` }),
});
const refusedByNode = route({
  method: 'GET',
  path: '/odd',
  proof: { by: 'none' },
  handle: async () => ({ type: 'text', status: 200, headers: { 'x-odd': 'a\nb' }, body: '' }),
});

let served: Awaited<ReturnType<typeof serveSurfaces>>;
beforeAll(async () => {
  served = await serveSurfaces({
    surfaces: [{ routes: [hook, page, refusedByNode] }],
    authenticate: () => Promise.reject(new Error('no route has a token')),
    limits: {
      call: async () => undefined,
      opening: async () => undefined,
      sent: async () => 0,
      body: async () => undefined,
    },
    corsOrigins: [PAGE],
  });
});
afterAll(() => served.close());

const call = (path: string, init: RequestInit = {}) => fetch(`${served.url}${path}`, init);

describe('a surface of its own', () => {
  it.each([
    ['signed', '/hooks/acme', 'acme', 'Hello.', 200],
    ['with a wrong signature', '/hooks/acme', 'other', 'Hello.', 401],
    ['of no vendor', '/hooks/nobody', 'nobody', 'Hello.', 404],
    ['too large for its signature to be checked', '/hooks/acme', 'other', 'x'.repeat(101), 413],
  ])('gets a webhook that is %s', async (_what, path, signature, body, status) => {
    const reply = await call(path, { method: 'POST', body, headers: { 'x-signature': signature } });
    expect(reply.status).toBe(status);
    if (status === 200) expect(await reply.text()).toBe('acme Hello.');
    else expect(reply.headers.get('content-type')).toBe('application/problem+json');
  });

  it('puts an error of its page in its own words', async () => {
    const reply = await call('/desk/1', { headers: { 'x-request-id': 'request-1' } });
    expect([reply.status, await reply.text()]).toEqual([500, 'See request-1.']);
  });

  it('replies to a page of another origin, with the id of the request, where a header cannot be sent', async () => {
    const headers = { origin: PAGE, 'x-request-id': 'request-2' };
    const reply = await call('/odd', { headers });
    expect(reply.status).toBe(500);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'x-request-id': 'request-2',
      vary: 'origin',
    });
  });

  it('never lets another origin call its page, whose path has one form', async () => {
    const allowed = async (path: string, method: string) =>
      (await call(path, { method, headers: { origin: PAGE } })).headers.get('access-control-allow-origin');
    expect(await allowed('/hooks/acme', 'OPTIONS')).toBe(PAGE);
    for (const method of ['OPTIONS', 'GET']) expect(await allowed('/desk/1', method)).toBeNull();
    for (const path of ['/desk/1/', '/desk/%31', '//desk/1']) expect((await call(path)).status).toBe(404);
  });
});
