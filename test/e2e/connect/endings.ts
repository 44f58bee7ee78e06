import { describe, expect, it } from 'vitest';
import { questionsIn, textOf } from '../../harness/chat/client.ts';
import { headingOf } from '../../harness/pages/browser.ts';
import { asked, callsSeen, everAsked, meet, type Person, type Question, type Watched } from './person.ts';
import { keptOf } from './vault.ts';
import type { World } from './world.ts';

interface Ending {
  readonly agent?: string;
  readonly end: (person: Person, question: Question) => Promise<unknown>;
  readonly status: string;
  readonly words: string;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  'declined in the chat': {
    end: (person, { elicitationId }) => person.answer(elicitationId, { action: 'decline' }),
    status: 'declined',
    words: 'explicitly declined',
  },
  'dismissed in the chat': {
    end: (person, { elicitationId }) => person.answer(elicitationId, { action: 'cancel' }),
    status: 'cancelled',
    words: 'without choosing',
  },
  'declined on the page': {
    async end({ browser, userId }, { url = '' }) {
      await browser.submit(await browser.enter(url, userId), 'decline');
    },
    status: 'declined',
    words: 'explicitly declined',
  },
  'left until its deadline': {
    agent: 'hasty',
    end: async () => undefined,
    status: 'expired',
    words: 'before the deadline',
  },
};

/** Tests of conversations in which the person does not connect the account. */
export function endings(the: () => World): void {
  describe('a person who does not connect', () => {
    /** Someone before the question, and how it stands when all is over. */
    async function paused(agent?: string) {
      const person = await meet(the());
      const calls = callsSeen(the());
      const turn = await person.say('file nothing', agent === undefined ? {} : { agent });
      // The hasty agent's question may have ended already.
      const question = await (agent === undefined ? asked(turn) : everAsked(turn));
      const over = async (watched: Watched) => {
        const message = await watched.done;
        expect(await keptOf(the(), person.userId)).toEqual([]);
        expect(callsSeen(the())).toEqual(calls);
        return { status: questionsIn(message).map(({ status }) => status), text: textOf(message), message };
      };
      return { person, turn, question, over };
    }

    it.each(Object.keys(ENDINGS))(
      'question %s: the model explains, nothing is kept, nothing is called [MCP25-32 MCP26-31 MCP26-32]',
      async (name) => {
        const { agent, end, status, words } = ENDINGS[name] as Ending;
        const { person, turn, question, over } = await paused(agent);
        await end(person, question);
        const { message: _message, ...outcome } = await over(turn);
        expect(outcome).toEqual({ status: [status], text: expect.stringContaining(words) });
      },
    );

    it('declines while the provider’s page is open: its callback stores nothing', async () => {
      const { person, turn, question, over } = await paused();
      const callback = await person.agree(question);
      await person.answer(question.elicitationId, { action: 'decline' });
      expect((await over(turn)).text).toContain('explicitly declined');
      const shown = await person.browser.open(callback);
      expect(shown.heading).toBe(headingOf({ page: 'declined' }));
      expect(await keptOf(the(), person.userId)).toEqual([]);
    });

    it('stops the turn: the question is withdrawn, and the next turn asks again', async () => {
      const { person, turn, over } = await paused();
      expect(await (await person.post('/run/api/chat/chat/stop')).json()).toEqual({ stopped: true });
      const { status, message } = await over(turn);
      expect(status).toEqual(['withdrawn']);
      expect(message?.parts.at(-1)).not.toMatchObject({ type: 'text' });
      const again = await person.say('file something');
      await person.connect(await asked(again));
      expect(textOf(await again.done)).toContain('Created something.');
    });
  });
}
