import { request } from 'node:http';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';

// `npm test` lets each file begin when the machine has room for it (test/runner/gate.ts). Without it nothing waits.
const gate = process.env.PARLEY_TEST_GATE;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Resolves when the gate has answered; a gate that has closed lets everything through. */
function tell(gateUrl: string, what: 'begin' | 'end'): Promise<void> {
  const file = relative(ROOT, expect.getState().testPath ?? '');
  return new Promise((resolve) => {
    // A connection of its own: a kept one would count among those that a test finds open in its process.
    const call = request(`${gateUrl}/${what}`, { method: 'POST', agent: false });
    call.on('response', (response) => response.resume().on('end', resolve));
    call.on('error', () => resolve());
    call.end(JSON.stringify({ pid: process.pid, file }));
  });
}

if (gate !== undefined) {
  await tell(gate, 'begin');
  afterAll(() => tell(gate, 'end'));
}
