import { createHmac, timingSafeEqual } from 'node:crypto';
import { ParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import {
  formBody,
  type Proof,
  type RequestHead,
  rawBody,
  route,
  type Surface,
} from '../../../services/api/src/http/route.ts';
import { type Encoder, encodeTurn } from '../../../services/api/src/turns/encoder.ts';
import { followTurn } from '../../../services/api/src/turns/follow.ts';
import { startTurn } from '../../../services/api/src/turns/start.ts';
import type { Turns } from '../../../services/api/src/turns/turns.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { podOn } from '../../harness/turns/setup.ts';
import { modelOf, SURE } from '../../harness/turns/site.ts';

const SECRET = 'the secret of a vendor';
const PAGE = 'https://page.example';
const HTML = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };

/** The identity that a vendor's signature proves: the user it calls for. */
interface Vendor {
  readonly tenant: string;
}

const signed: Proof<Vendor> = {
  by: 'signature',
  verifierOf: ({ vendor = '' }) =>
    vendor.startsWith('tenant-') ? (body, head) => verify(body, head, vendor) : undefined,
};

function verify(body: Buffer, { headers }: RequestHead, tenant: string): Vendor {
  const given = Buffer.from(String(headers['x-vendor-signature']));
  const expected = Buffer.from(signatureOf(body));
  if (given.length === expected.length && timingSafeEqual(given, expected)) return { tenant };
  throw new ParleyError('unauthenticated', 'The signature is wrong.');
}

function signatureOf(body: Buffer | string): string {
  return createHmac('sha256', SECRET).update(body).digest('hex');
}

/** The signed-in person, by a cookie that names them: a session of a test. */
const session: Proof<Owner | undefined> = {
  by: 'session',
  read({ headers }) {
    const [tenant, userId] = /^desk=([^/]+)\/(.+)$/.exec(headers.cookie ?? '')?.slice(1) ?? [];
    return tenant === undefined || userId === undefined ? undefined : { tenant, userId };
  },
};

/** Lines of JSON: the text of a turn, its questions and its end. */
function createLineEncoder(): Encoder<string> {
  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  return {
    encode(event) {
      if (event.type === 'question' && event.change === 'elicitation-request')
        return { frames: [line({ question: event.elicitation.elicitationId })], next: 'more' };
      if (event.type !== 'turn') return { frames: [], next: 'more' };
      if (event.event.type === 'text-delta')
        return { frames: [line({ text: event.event.text })], next: 'more' };
      if (event.event.type === 'turn-finished') return { frames: [line({ end: 'finished' })], next: 'end' };
      return { frames: [], next: 'more' };
    },
  };
}

/** A surface of two routes: a vendor's webhook that starts a turn, and a page on which its person answers. */
function deskRoutes({ engine, turns }: { readonly engine: Engine; readonly turns: Turns }): Surface {
  const hook = route({
    method: 'POST',
    path: '/desk/hooks/:vendor',
    proof: signed,
    body: rawBody(1_000),
    async handle({ caller: { tenant }, body, signal, draining, admitted }) {
      const { userId, text } = JSON.parse(body.toString()) as { userId: string; text: string };
      const { run } = await startTurn(turns, {
        caller: { kind: 'user', tenant, userId },
        conversationId: undefined,
        messages: [{ role: 'user', content: text }],
        agent: undefined,
        support: { form: true, url: false },
        delivery: 'hold',
        draining,
        admitted,
      });
      const events = await followTurn({ engine, turns }, run, { signal });
      return {
        type: 'pieces',
        headers: { 'content-type': 'application/x-ndjson' },
        pieces: encodeTurn(events, createLineEncoder(), { signal, release: () => undefined }),
      };
    },
  });
  const desk = route({
    method: 'GET',
    path: '/desk/:id',
    proof: session,
    readsOnly: true,
    handle: async ({ caller, params }) => ({
      type: 'text',
      status: caller === undefined ? 401 : 200,
      headers: HTML,
      body: caller === undefined ? 'Please sign in.' : `<form method="post">Answer ${params.id}</form>`,
    }),
  });
  const answer = route({
    method: 'POST',
    path: '/desk/:id',
    proof: session,
    body: formBody(200),
    async handle({ caller, params: { id = '' }, body }) {
      if (caller === undefined || body === undefined)
        return { type: 'text', status: 400, headers: HTML, body: 'This form cannot be taken.' };
      const content = { answer: body.get('answer') === 'yes' };
      await engine.answer({
        caller: { kind: 'user', ...caller },
        id,
        response: { action: 'accept', content },
        surface: 'desk',
      });
      return { type: 'empty', status: 303, headers: { location: `/desk/${id}` } };
    },
    refuse: (_error, { head }) => ({
      type: 'text',
      status: 500,
      headers: HTML,
      body: `Something went wrong; its number is ${head.requestId}.`,
    }),
  });
  return { routes: [hook, desk, answer] };
}

const model = modelOf(({ results }) => (results.length === 0 ? { calls: [SURE] } : { text: 'Done.' }));
let base: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const backend = createMemoryBackend(ROOMY);
  const { engine, turns } = podOn(backend, model.current);
  const served = await serveSurfaces({
    surfaces: [deskRoutes({ engine, turns })],
    authenticate: createAuthenticate({ serviceKeys: [], verify: undefined }),
    limits: callLimitsOn(backend.limits),
    corsOrigins: [PAGE],
  });
  base = served.url;
  close = async () => {
    await turns.close();
    served.close();
  };
});
afterAll(() => close());

function callHook(body: string, options: { readonly signature?: string; readonly path?: string } = {}) {
  const { signature = signatureOf(body), path = '/desk/hooks/tenant-a' } = options;
  return fetch(base + path, { method: 'POST', body, headers: { 'x-vendor-signature': signature } });
}

function postForm(id: string, cookie: string, body: string | URLSearchParams) {
  const headers = { cookie, 'x-request-id': 'request-1' };
  return fetch(`${base}/desk/${id}`, { method: 'POST', headers, body, redirect: 'manual' });
}

/** The lines of a reply as they come. */
async function* linesOf(reply: Response): AsyncGenerator<Record<string, string>> {
  let rest = '';
  for await (const text of (reply.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Record<string, string>;
  }
}

describe('a surface of its own', () => {
  it('starts a turn by a signed webhook, follows it in lines, and takes the answer from a form', async () => {
    const { userId } = newOwner();
    const reply = await callHook(JSON.stringify({ userId, text: 'Deploy.' }));
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    const seen: Record<string, string>[] = [];
    for await (const line of linesOf(reply)) {
      seen.push(line);
      if (line.question === undefined) continue;
      const answered = await postForm(
        line.question,
        `desk=tenant-a/${userId}`,
        new URLSearchParams({ answer: 'yes' }),
      );
      expect([answered.status, answered.headers.get('location')]).toEqual([303, `/desk/${line.question}`]);
    }
    expect(seen).toEqual([
      { question: expect.stringMatching(/^el_/) },
      { text: 'Done.' },
      { end: 'finished' },
    ]);
  });

  it.each([
    ['a wrong signature', { signature: signatureOf('other bytes') }, 401],
    ['no vendor of that name', { path: '/desk/hooks/nobody' }, 404],
  ])('refuses a webhook with %s', async (_what, options, status) => {
    const reply = await callHook('{"userId":"ada","text":"Hello."}', options);
    expect(reply.status).toBe(status);
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
  });

  it('refuses a webhook whose body is too large before it checks the signature', async () => {
    expect((await callHook(JSON.stringify({ text: 'x'.repeat(1_000) }))).status).toBe(413);
  });

  it('serves its page by the session, HEAD too', async () => {
    const page = `${base}/desk/el_1`;
    expect((await fetch(page)).status).toBe(401);
    const headers = { cookie: 'desk=tenant-a/ada' };
    expect(await (await fetch(page, { headers })).text()).toBe('<form method="post">Answer el_1</form>');
    const head = await fetch(page, { method: 'HEAD', headers });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it.each([
    ['that is none', '{"answer":"yes"}'],
    ['that is too large', new URLSearchParams({ answer: 'y'.repeat(300) })],
  ])('hands its page no form %s', async (_what, body) => {
    const reply = await postForm('el_1', 'desk=tenant-a/ada', body);
    expect([reply.status, await reply.text()]).toEqual([400, 'This form cannot be taken.']);
  });

  it('puts an error of its page in its own words', async () => {
    const reply = await postForm('el_1', 'desk=tenant-a/ada', new URLSearchParams({ answer: 'yes' }));
    expect([reply.status, await reply.text()]).toEqual([
      500,
      'Something went wrong; its number is request-1.',
    ]);
  });

  it('never lets another origin call its page, whose path has one form', async () => {
    const headers = { origin: PAGE, 'access-control-request-method': 'POST' };
    const allowed = async (path: string, method = 'OPTIONS') =>
      (await fetch(base + path, { method, headers })).headers.get('access-control-allow-origin');
    expect(await allowed('/desk/hooks/tenant-a')).toBe(PAGE);
    expect(await allowed('/desk/el_1')).toBeNull();
    expect(await allowed('/desk/el_1', 'GET')).toBeNull();
    for (const path of ['/desk/el_1/', '/desk/%65l_1', '//desk/el_1']) {
      expect((await fetch(base + path)).status, path).toBe(404);
    }
  });

  it('has its other methods and paths refused by the router', async () => {
    const reply = await fetch(`${base}/desk/hooks/tenant-a`);
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await fetch(`${base}/desk`)).status).toBe(404);
  });
});
