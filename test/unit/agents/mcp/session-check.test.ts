import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { createSessionCheck } from '../../../../services/api/src/agents/mcp/session-check.ts';

const httpError = (status: number, text?: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'failed', { status, text });
const TIMED_OUT = '{"error":{"code":-32001,"message":"Request timed out"}}';

/** `x`: no ping is sent. */
it.each([
  [404, '', 'x', 'expired'],
  [400, '{"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}', 'x', 'expired'],
  [400, '{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}', 'x', 'expired'],
  [400, 'Invalid session ID', 'x', 'expired'],
  [410, 'Session 5b1d was terminated', 'x', 'expired'],
  [400, 'Invalid parameter: session', 200, 'known'],
  [400, TIMED_OUT, 400, 'lost'],
  [500, 'Session not found', 500, 'lost'],
  [503, '', 404, 'lost'],
  [503, '', 429, 'known'],
  [503, '', 200, 'known'],
  [302, '', 'x', 'known'],
  [403, 'Session not found for this user', 'x', 'expired'],
  [429, '', 'x', 'known'],
])('%s %j, and %s to a ping: the session is %4$s', async (status, text, pinged, fate) => {
  let pings = 0;
  const check = createSessionCheck(
    () => 'session',
    async () => {
      pings += 1;
      if (pinged !== 200) throw httpError(Number(pinged));
    },
  );
  expect([await check(httpError(status, text)), pings]).toEqual([fate, pinged === 'x' ? 0 : 1]);
});

it('requests that fail together share a ping, and later ones do not', async () => {
  let pings = 0;
  const check = createSessionCheck(
    () => 'session',
    async () => void pings++,
  );
  await Promise.all([check(httpError(500)), check(httpError(500))]);
  expect(pings).toBe(1);
  await check(httpError(500));
  expect(pings).toBe(2);
});
