import { afterAll, beforeAll, describe } from 'vitest';
import { openPageParts, type PageParts } from '../../harness/chat/page.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { afterAbsence } from './away.ts';
import { servePage } from './site.ts';
import { stopping } from './stop.ts';
import { inTrouble } from './trouble.ts';
import { whileWaiting } from './waiting.ts';

await describeInChromium('the chat page', (path) => {
  let parts: PageParts;
  beforeAll(async () => {
    parts = await openPageParts(path);
  });
  afterAll(() => parts?.browser.close());

  describe('before a scripted server', () => {
    const forEachTest = servePage(() => parts);
    describe('after an absence', () => afterAbsence(forEachTest));
    describe('with the button Stop', () => stopping(forEachTest));
    describe('with failures', () => inTrouble(forEachTest));
  });
  describe('with a turn that is detached while it waits', () => whileWaiting(() => parts));
});
