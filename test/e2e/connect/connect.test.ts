import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SIZE } from '../../harness/load/size.ts';
import { canaries } from './canary.ts';
import { clients } from './clients.ts';
import { converse } from './conversations.ts';
import { endings } from './endings.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { renewals } from './renewals.ts';
import { terminalCanaries } from './terminal-canary.ts';
import { BRAND, startWorld, type World } from './world.ts';

// Some readers never disconnect, one does at the first words and one at the question.
const CONVERSATIONS = SIZE.full ? 200 : 4;

let world: World;
let recorder: Recorder;
beforeAll(async () => {
  world = await startWorld();
  recorder = createRecorder([world.url, ...world.pods.map(({ url }) => url)]);
  vi.stubGlobal('fetch', recorder.fetch);
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await world?.stop();
});

describe('people who connect an account in the middle of a conversation', () => {
  it(`${CONVERSATIONS} at a time: each gets one question, one call and the complete reply, in order`, async () => {
    await Promise.all(Array.from({ length: CONVERSATIONS }, (_, index) => converse(world, index)));
    expect(world.tracker.counts()).toMatchObject({
      withoutToken: 0,
      unauthorized: 0,
      repeated: 0,
      tools: { create_issue: 2 * CONVERSATIONS },
      executed: { create_issue: 2 * CONVERSATIONS },
    });
    // A sign-in and an account for each.
    expect(world.accounts.tokenCalls('authorization_code')).toBe(2 * CONVERSATIONS);
    expect(world.accounts.reusedFamilies()).toEqual([]);
  });
});

describe('the hosted pages', () => {
  it.each(['inbox', 'accounts', 'connect/unknown', 'answer/unknown', 'answer/ap_unknown', 'link/unknown'])(
    'have the title and the picture of the deployment: /auth/%s',
    async (path) => {
      const response = await fetch(`${world.url}/auth/${path}`);
      const html = await response.text();
      expect(html).toMatch(new RegExp(`<title>[^<]+ ${BRAND.title}</title>`, 'u'));
      expect(html).toContain(
        `<header class="brand"><img src="${BRAND.logoUrl}" alt=""><bdi>${BRAND.title}</bdi>`,
      );
      const policy = response.headers.get('content-security-policy');
      expect(policy).toContain(`img-src ${new URL(BRAND.logoUrl).origin};`);
    },
  );
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
