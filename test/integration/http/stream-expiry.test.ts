import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { NO_DRAIN } from '../../../services/api/src/http/life/drain.ts';
import { writeAll } from '../../../services/api/src/http/stream.ts';

afterEach(() => vi.useRealTimers());

const A_DAY_MS = 86_400_000;

/** A stream that yields nothing, as its writer sees it; `ended` is how it ended, once it has. */
function silentStream(expiresAtMs: number | undefined) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const response = new PassThrough() as unknown as ServerResponse;
  const source = { next: () => new Promise<never>(() => undefined) };
  const state: { ended?: string } = {};
  const options = { slowReaderMs: 1_000, drain: NO_DRAIN, expiresAtMs };
  void writeAll(response, source, String, options).then((ended) => {
    state.ended = ended;
  });
  return state;
}

it.each([undefined, Number.POSITIVE_INFINITY])(
  'a stream without an expiry (%s) lasts for months',
  async (at) => {
    const stream = silentStream(at);
    await vi.advanceTimersByTimeAsync(100 * A_DAY_MS);
    expect(stream.ended).toBeUndefined();
  },
);

it('a stream ends at the expiry of its token, also when that is further away than a timer of Node can wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const stream = silentStream(Date.now() + 60 * A_DAY_MS);
  await vi.advanceTimersByTimeAsync(60 * A_DAY_MS - 1);
  expect(stream.ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(stream.ended).toBe('expired');
});

it('a stream whose token has expired ends at once', async () => {
  const stream = silentStream(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(stream.ended).toBe('expired');
});
