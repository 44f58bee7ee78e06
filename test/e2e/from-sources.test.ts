import { expect, it } from 'vitest';
import { type Pod, startPod } from '../harness/processes/processes.ts';

// Every other test starts pods from a bundle.
it('a pod starts straight from its sources, as `npm run api` starts it', async () => {
  const pod: Pod = await startPod({}, { runs: 'sources' });
  try {
    expect((await fetch(`${pod.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${pod.url}/openapi.json`)).status).toBe(200);
  } finally {
    await pod.stop();
  }
});
