import { afterAll, beforeAll, vi } from 'vitest';
import { askSuite } from './ask.ts';
import { callSuite } from './calls.ts';
import { eventSuite } from './events.ts';
import { faultSuite } from './faults.ts';
import { startWorld, type World } from './setup.ts';

// A pod takes its time to start on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// One world for all suites: starting pods is what takes the time.
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

askSuite(() => world);
callSuite(() => world);
eventSuite(() => world);
faultSuite(() => world);
