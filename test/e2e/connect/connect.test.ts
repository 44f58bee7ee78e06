import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SIZE } from '../../harness/load/size.ts';
import { canaries } from './canary.ts';
import { clients } from './clients.ts';
import { converse } from './conversations.ts';
import { endings } from './endings.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { renewals } from './renewals.ts';
import { terminalCanaries } from './terminal-canary.ts';
import { startWorld, type World } from './world.ts';

const CONVERSATIONS = SIZE.full ? 200 : 9;
const WARM_UPS = 3;

function converseAll(count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, index) => converse(world, index)));
}

let world: World;
let recorder: Recorder;
beforeAll(async () => {
  world = await startWorld();
  recorder = createRecorder([world.url, ...world.pods.map(({ url }) => url)]);
  vi.stubGlobal('fetch', recorder.fetch);
  // The first turn of a process is slow.
  await converseAll(WARM_UPS);
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await world?.stop();
});

describe('people who connect an account in the middle of a conversation', () => {
  it(`${CONVERSATIONS} at a time: each gets one question, one call and the complete reply, in order`, async () => {
    await converseAll(CONVERSATIONS);
    const all = WARM_UPS + CONVERSATIONS;
    expect(world.tracker.counts()).toMatchObject({
      withoutToken: 0,
      unauthorized: 0,
      repeated: 0,
      tools: { create_issue: 2 * all },
      executed: { create_issue: 2 * all },
    });
    // A sign-in and an account for each.
    expect(world.accounts.tokenCalls('authorization_code')).toBe(2 * all);
    expect(world.accounts.reusedFamilies()).toEqual([]);
  });
});

endings(() => world);
renewals(() => world);
clients(() => world);
terminalCanaries(() => world);
// Runs last: it inspects everything before it, and ends the pods.
canaries(
  () => world,
  () => recorder,
);
