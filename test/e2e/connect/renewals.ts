import { describe, expect, it } from 'vitest';
import { questionsIn, textOf } from '../../harness/chat/client.ts';
import { SIZE } from '../../harness/load/size.ts';
import { wholeText } from './agents.ts';
import { asked, meet, type Person } from './person.ts';
import { accountOf, tokensOf, withVault } from './vault.ts';
import type { World } from './world.ts';

const RUNS = SIZE.full ? 50 : 12;
// Long enough that the runs on all pods overlap in it.
const SLOW_MS = 1_500;

/** Tests of credentials that end while they are needed. */
export function renewals(the: () => World): void {
  async function connected(): Promise<Person> {
    const person = await meet(the());
    const turn = await person.say('file one');
    await person.connect(await asked(turn));
    expect(textOf(await turn.done)).toBe(wholeText('one'));
    return person;
  }

  /** Ends the access token; the refresh token still holds. */
  function endAccess({ userId }: Person, isKnown: boolean): Promise<void> {
    return withVault(the(), async (vault) => {
      const tokens = await tokensOf(vault, userId);
      the().endToken(tokens.accessToken);
      if (isKnown) await vault.save(accountOf(userId), { ...tokens, expiresAt: Date.now() - 1_000 });
    });
  }

  describe('a credential that has ended', () => {
    it('at the provider is requested again once, and the call continues', async () => {
      const person = await connected();
      expect(the().accounts.revokeUser(person.userId)).toBeGreaterThan(0);
      const turn = await person.say('file two');
      await person.connect(await asked(turn));
      const message = await turn.done;
      expect(questionsIn(message).map(({ status }) => status)).toEqual(['accepted']);
      expect(textOf(message)).toBe(wholeText('two'));
      const later = await (await person.say('file three')).done;
      expect([questionsIn(later), textOf(later)]).toEqual([[], wholeText('three')]);
      const titles = the()
        .tracker.issuesOf(person.userId)
        .map(({ title }) => title);
      expect(titles.slice(2)).toEqual(['one', 'two', 'three']);
    });

    it.each([
      ['by the clock', true],
      ['although its time was not up', false],
    ])(
      `${'%s'} is refreshed once for ${RUNS} runs on several pods, and no grant is lost`,
      async (_name, isKnown) => {
        const { accounts, tracker } = the();
        const person = await connected();
        await endAccess(person, isKnown);
        const [refreshes, { unauthorized }] = [accounts.tokenCalls('refresh_token'), tracker.counts()];
        const fast = accounts.misbehave({ at: 'token', delayMs: SLOW_MS });
        const messages = await Promise.all(
          Array.from({ length: RUNS }, async (_, index) => {
            // A client that cannot show a question gets the reason at once.
            const turn = await person.say('list', { supports: 'none' }, `chat-${index}`);
            return { pod: turn.pod, message: await turn.done };
          }),
        );
        fast();
        for (const { message } of messages) expect(textOf(message)).toContain('The login page is slow');
        expect(new Set(messages.map(({ pod }) => pod)).size).toBeGreaterThan(1);
        expect(accounts.tokenCalls('refresh_token') - refreshes).toBe(1);
        expect(accounts.reusedFamilies()).toEqual([]);
        // A token that is known to have expired is not tried.
        if (isKnown) expect(tracker.counts().unauthorized).toBe(unauthorized);
      },
    );
  });
}
