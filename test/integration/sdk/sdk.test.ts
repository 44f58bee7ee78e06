import { afterAll, beforeAll } from 'vitest';
import { startWorld, type World } from '../../harness/sdk/setup.ts';
import { cliSuite } from '../cli/suite.ts';
import { askSuite } from './ask.ts';
import { callSuite } from './calls.ts';
import { eventSuite } from './events.ts';
import { faultSuite } from './faults.ts';

// All suites share the pods, because starting them is slow.
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

askSuite(() => world);
callSuite(() => world);
eventSuite(() => world);
faultSuite(() => world);
cliSuite(() => world);
