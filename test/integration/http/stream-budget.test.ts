import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { writeAll } from '../../../services/api/src/http/stream.ts';

/** A stream of three items whose reader is over its budget after the second one. */
function stream(pauseSeconds: number, draining = new AbortController().signal) {
  const response = new PassThrough();
  const written: string[] = [];
  response.on('data', (chunk) => written.push(String(chunk)));
  async function* items() {
    yield* ['one', 'two', 'three'];
  }
  const counted: number[] = [];
  const sent = async (bytes: number) => ([2, 3].includes(counted.push(bytes)) ? pauseSeconds : 0);
  const ended = writeAll(response as unknown as ServerResponse, items(), String, {
    slowReaderMs: 1_000,
    draining,
    sent,
  });
  return { written, counted, ended };
}

it('a stream over the budget of its reader pauses, and continues once the budget has room again', async () => {
  const { written, counted, ended } = stream(0.05);
  expect(await ended).toBe('end');
  expect(written).toEqual(['one', 'two', 'three']);
  expect(counted).toEqual([3, 3, 1024, 1024, 5]);
});

it('a paused stream sends nothing, and ends at once when its pod drains', async () => {
  const draining = new AbortController();
  const { written, ended } = stream(3_600, draining.signal);
  await sleep(50);
  expect(written).toEqual(['one', 'two']);
  draining.abort();
  expect(await ended).toBe('interrupted');
  expect(written).toEqual(['one', 'two']);
});
