import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withTimeLimit } from '@parley/shared/async/time-limit';
import { expect, it } from 'vitest';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('work is ended after its time, also where its garbage was collected in the meantime', async () => {
  const { signal } = new AbortController();
  const collecting = setInterval(collect, 30);
  const ended = await withTimeLimit(200, signal, async (limited) => {
    const aborted = new Promise((resolve) => limited.addEventListener('abort', resolve, { once: true }));
    const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'late').unref());
    return (await Promise.race([aborted, late])) === 'late' ? 'never' : limited.reason;
  });
  clearInterval(collecting);
  expect(ended).toMatchObject({ name: 'TimeoutError' });
});

it('work is ended with its caller, and its time with it', async () => {
  const leaving = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const work = withTimeLimit(3_600_000, leaving.signal, async (limited) => {
    leaving.abort('gone');
    return limited.reason as unknown;
  });
  expect([await work, timers()]).toEqual(['gone', before]);
});
