import { setTimeout as sleep } from 'node:timers/promises';
import { createEngine } from '@parley/shared/elicitations/engine';
import { silentObserver } from '@parley/shared/observe/observer';
import { DueJobData, type Processors } from '@parley/shared/ports/jobs';
import { dispatchOn } from '../../harness/engines/engines.ts';
import { SETTINGS, single, startTestPod, startTestWorker } from '../../harness/worker/setup.ts';

// A worker that writes to standard output which job it has taken, and continues a moment later: long enough to be killed
// or frozen in the meantime. With TEST_HOLD_AT=arm it pauses after it has expired what is due, before it arms the next deadline.
const { REDIS_URL = '', TEST_LOCK_MS = '', TEST_HOLD_MS = '', TEST_HOLD_AT = 'take' } = process.env;
const location = single(REDIS_URL);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const nothing = async () => undefined;
const pause = () => sleep(Number(TEST_HOLD_MS));

async function work(): Promise<void> {
  const pod = await startTestPod({ location, timers: 'queue' });
  const { elicitations } = pod.backend;
  const engine = createEngine({
    ...pod.backend,
    elicitations: {
      ...elicitations,
      async arm(bucket, skip) {
        if (TEST_HOLD_AT === 'arm') {
          say({ arming: bucket });
          await pause();
        }
        return elicitations.arm(bucket, skip);
      },
    },
    observer: silentObserver,
    deliveries: dispatchOn(pod.backend),
    settings: SETTINGS,
  });
  const processors: Processors = {
    async 'expire-due'({ data }) {
      const { bucket, elicitationId } = DueJobData.parse(data);
      say({ taken: elicitationId });
      if (TEST_HOLD_AT === 'take') await pause();
      await engine.expireDue({ bucket, batch: 100 });
      say({ done: elicitationId });
      return undefined;
    },
    expire: nothing,
    canary: nothing,
  };
  await startTestWorker(pod, location, {
    lockMs: Number(TEST_LOCK_MS),
    stalledCheckMs: Number(TEST_LOCK_MS),
    processors,
  });
  say({ ready: true });
}

void work();
