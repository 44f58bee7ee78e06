import { RunDetachedError } from '@parley/shared/runs/interruption';
import { expect, it } from 'vitest';
import { resting } from '../../../services/api/src/agents/run/run-context.ts';

it.each([
  ['is over', 0, undefined],
  ['fails, such as for the time of its task', 0, new Error('The time is over.')],
  ['is ended by a stop of the turn', 0, new DOMException('Stopped.', 'AbortError')],
  ['is ended by the release of the turn', 1, new RunDetachedError()],
])('a pause that %s leaves %i times at which the turn is to be continued', async (what, left, reason) => {
  const rests = new Set<{ readonly until: number }>();
  const ending = new AbortController();
  const ended = resting({ rests, signal: ending.signal }, 1_000, async () => {
    expect(rests.size).toBe(1);
    if (what.startsWith('is ended')) ending.abort(reason);
    if (reason !== undefined) throw reason;
  });
  await expect(ended.catch((error: unknown) => error)).resolves.toBe(reason);
  expect(rests.size).toBe(left);
});
