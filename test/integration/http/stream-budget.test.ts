import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createDrain, type Drain, NO_DRAIN } from '../../../services/api/src/http/life/drain.ts';
import { writeAll } from '../../../services/api/src/http/stream.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const [ONE, TWO, THREE] = ['1', '2', '3'].map((sign) => sign.repeat(1024)) as [string, string, string];

/** A stream of three items whose reader is over its budget after the second one. */
function stream(pauseSeconds: number, drain: Drain = NO_DRAIN) {
  const response = new PassThrough();
  const written: string[] = [];
  response.on('data', (chunk) => written.push(String(chunk)));
  async function* items() {
    yield* [ONE, TWO, THREE];
  }
  const counted: number[] = [];
  const sent = async (bytes: number) => ([2, 3].includes(counted.push(bytes)) ? pauseSeconds : 0);
  const ended = writeAll(response as unknown as ServerResponse, items(), String, {
    slowReaderMs: 1_000,
    drain,
    sent,
  });
  return { written, counted, ended };
}

it('a stream over the budget of its reader pauses, and continues once the budget has room again', async () => {
  const { written, counted, ended } = stream(0.05);
  expect(await ended).toBe('end');
  expect(written).toEqual([ONE, TWO, THREE]);
  expect(counted).toEqual([1024, 1024, 1024, 1024, 1024]);
});

it('a paused stream sends nothing, and ends at once when its pod drains', async () => {
  const drain = createDrain();
  const { written, counted, ended } = stream(3_600, drain);
  await waitUntil(() => counted.length === 2, { what: 'the pause' });
  // Longer than a stream that is not paused takes for the rest.
  await stream(0).ended;
  expect(written).toEqual([ONE, TWO]);
  drain.begin();
  expect(await ended).toBe('interrupted');
  expect(written).toEqual([ONE, TWO]);
});

it('small items are counted together, by the bytes that are sent', async () => {
  const response = new PassThrough().resume();
  const counted: number[] = [];
  async function* items() {
    for (let item = 0; item < 10; item += 1) yield '字'.repeat(100);
  }
  await writeAll(response as unknown as ServerResponse, items(), String, {
    slowReaderMs: 1_000,
    drain: NO_DRAIN,
    sent: async (bytes) => {
      counted.push(bytes);
      return 0;
    },
  });
  expect(counted).toEqual([1024, 1024]);
});
