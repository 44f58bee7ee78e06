import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { bearer, json, jsonBody, route } from '../../../services/api/src/http/route.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';

const owner = newOwner();
const echo = route({
  method: 'POST',
  path: '/echo',
  proof: bearer('user'),
  body: jsonBody(z.object({ text: z.string() })),
  handle: async ({ body, admitted }) => {
    await admitted;
    return json(200, { length: body.text.length });
  },
});
let served: Awaited<ReturnType<typeof serveSurfaces>>;
beforeAll(async () => {
  served = await serveSurfaces({
    surfaces: [{ routes: [echo] }],
    authenticate: async () => ({
      caller: { kind: 'user', ...owner },
      expiresAtMs: Number.POSITIVE_INFINITY,
    }),
    limits: callLimitsOn(createMemoryLimits(), { userWriteBytes: 80_000 }),
    bodyBytesMax: 100_000,
    messagesBytesMax: 100_000,
  });
});
afterAll(() => served.close());

/** Sends a body; or, without one, only a head that announces so many bytes. */
async function post(body: string | undefined, headers: Record<string, string | number>) {
  const sent = request({
    port: served.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/echo',
    headers: { 'content-type': 'application/json', ...headers },
  });
  sent.on('error', () => undefined);
  if (body === undefined) sent.flushHeaders();
  else sent.end(body);
  const [response] = await once(sent, 'response');
  const reply = { status: response.statusCode, text: await text(response) };
  sent.destroy();
  return reply;
}

it('a body over the budget of its caller is refused before it is read; small ones are still taken', async () => {
  // The budget is that of ten seconds, which do not pass within the test.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const body = JSON.stringify({ text: 'x'.repeat(90_000) });
  const whole = { 'content-length': Buffer.byteLength(body) };
  expect(await post(body, whole)).toMatchObject({ status: 200 });
  const refused = await post(undefined, whole);
  expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('rate_limited') });
  // What comes in chunks counts by what has come.
  const chunked = { 'transfer-encoding': 'chunked' };
  for (const text of ['small', 'x'.repeat(15_000), 'small'])
    expect(await post(JSON.stringify({ text }), chunked)).toMatchObject({ status: 200 });
  expect(await post(body, chunked)).toMatchObject({ status: 429 });
  expect(await post('{"text":"small"}', { 'content-length': 16 })).toMatchObject({ status: 200 });
});
