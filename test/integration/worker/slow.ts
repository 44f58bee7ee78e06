import { setTimeout as sleep } from 'node:timers/promises';
import { single, startTestPod, startTestWorker } from './setup.ts';

// A worker that says on standard output which job it has taken, and does it a moment later: long enough to be killed
// or frozen in the midst of it.
const { REDIS_URL = '', TEST_LOCK_MS = '', TEST_HOLD_MS = '' } = process.env;
const location = single(REDIS_URL);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const nothing = async () => undefined;

const pod = await startTestPod({ location });
await startTestWorker(pod, location, {
  lockMs: Number(TEST_LOCK_MS),
  stalledCheckMs: Number(TEST_LOCK_MS),
  processors: {
    async expire({ id }) {
      say({ taken: id });
      await sleep(Number(TEST_HOLD_MS));
      say({ id, ...(await pod.engine.expire(id)) });
      return undefined;
    },
    sweep: nothing,
    outbox: nothing,
    'take-over': nothing,
    'index-check': nothing,
    cleanup: nothing,
    canary: nothing,
  },
});
say({ ready: true });
