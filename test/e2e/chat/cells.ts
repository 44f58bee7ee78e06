import { isToolUIPart, type UIMessage } from 'ai';
import { expect } from 'vitest';
import { createChatClient, person, questionsIn, textOf, untilAsked } from '../../harness/chat/client.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const CHAT = 'c1';
const HELLO = 'hello';
const REPLY = 'You said hello.';
/** The pods where the first tab begins its turns, where acts are sent, and where a second tab reads. */
const [FIRST, ACTS, SECOND] = [0, 1, 2] as const;

/** A conversation in a state of its turn. */
interface Talk {
  readonly authorization: string;
  /** What the turn asked. */
  readonly asked?: { readonly kind: 'question' | 'approval'; readonly id: string };
  /** How the question was answered. */
  readonly answer?: string;
  /** What the reply says first, and once it is whole. */
  readonly said: string;
  readonly whole: RegExp;
}

/** An act, up to its first reply. The returned function waits for the rest; by then no model is held. */
type Act = (talk: Talk) => Promise<(() => Promise<void>) | undefined>;

/** The states and the acts of the table in docs/chat-transport.md, under the words that stand there. */
export interface Cells {
  readonly states: Readonly<Record<string, () => Promise<Talk>>>;
  readonly acts: Readonly<Record<string, Readonly<Record<string, Act>>>>;
}

/** The cells, on three pods. */
export function cellsOn(chats: ChatSite): Cells {
  const { say, resume, post, read } = createChatClient((pod) => chats.pods[pod]?.url ?? '');
  const begin = (authorization: string, text: string, more = {}) =>
    say({ authorization, text, chatId: CHAT, pod: FIRST, ...more });

  async function speaking(): Promise<Talk> {
    const { authorization, userId } = await person();
    const { seen } = await begin(authorization, `talk with ${userId}`);
    await waitUntil(() => textOf(seen.message).includes('word-1'), { what: 'the first words' });
    return { authorization, said: 'word-', whole: /end-\d+$/ };
  }

  async function asking(delivery = 'hold'): Promise<Talk> {
    const { authorization } = await person();
    const watched = await begin(authorization, 'seat', { delivery });
    const asked = { kind: 'question', id: await untilAsked(watched) } as const;
    if (delivery === 'detach') await watched.done;
    return { authorization, asked, said: 'One moment.', whole: /Seated\.$/ };
  }

  async function toApprove(): Promise<Talk> {
    const { authorization, userId } = await person();
    const message = await (await begin(authorization, `Book ${userId}-table`, { agent: 'desk' })).done;
    const asked = { kind: 'approval', id: callsIn(message)[0]?.approval?.id ?? '' } as const;
    return { authorization, asked, said: 'One moment.', whole: /Done: booked/ };
  }

  async function ended(answer?: string): Promise<Talk> {
    const talk = { ...(await asking()), ...(answer !== undefined && { answer }) };
    await (answer === undefined ? stop(talk) : decide(ACTS, talk, answer));
    await chats.untilOver(talk.authorization, CHAT);
    return talk;
  }

  const stop = ({ authorization }: Talk) => post(ACTS, `/run/api/chat/${CHAT}/stop`, authorization);

  /** Answers the question, or approves the call; without one of them, one that was never asked. */
  function decide(pod: number, { authorization, asked, ...talk }: Talk, answer = talk.answer ?? '12A') {
    const id = asked?.id ?? 'unknown';
    const decision =
      asked?.kind === 'approval'
        ? { approvalId: id, decision: answer === 'deny' ? 'deny' : 'approve' }
        : { elicitationId: id, action: 'accept', content: { answer } };
    const path = asked?.kind === 'approval' ? 'approval-responses' : 'elicitation-responses';
    return post(pod, `/run/api/${path}`, authorization, { conversationId: CHAT, ...decision });
  }

  async function historyOf(pod: number, { authorization }: Talk) {
    const reply = await read(pod, `/run/api/chat/${CHAT}/messages?reply=waiting`, authorization);
    const { messages = [], isRunning } = (await reply.json()) as {
      messages?: UIMessage[];
      isRunning?: boolean;
    };
    return { status: reply.status, messages, isRunning };
  }

  /** The status of what the turn asked. */
  async function statusOf({ authorization, asked }: Talk): Promise<string> {
    const family = asked?.kind === 'approval' ? 'approvals' : 'elicitations';
    const reply = await read(SECOND, `/v1/${family}/${asked?.id}`, authorization);
    return ((await reply.json()) as { status: string }).status;
  }

  /** Stops the turn, on a pod that may have to take it over first. What it asked is withdrawn. */
  async function stopToEnd(talk: Talk): Promise<void> {
    expect(await (await stop(talk)).json()).toEqual({ stopped: true });
    if (talk.asked !== undefined) expect(await statusOf(talk)).toBe('withdrawn');
    const isOver = async () => {
      const reading = await read(SECOND, `/run/api/chat/${CHAT}/stream`, talk.authorization);
      await reading.body?.cancel();
      return (await historyOf(SECOND, talk)).isRunning === false;
    };
    await waitUntil(isOver, { what: 'the end of the turn', everyMs: 100, timeoutMs: 90_000 });
  }

  /** What a tab shows that reads the turn to its end, again where the stream breaks. */
  function readToEnd(pod: number, talk: Talk): Promise<string> {
    const shownNow = async () => {
      const watched = await resume(pod, talk.authorization, CHAT);
      const message =
        watched === undefined ? (await historyOf(pod, talk)).messages.at(-1) : await watched.done;
      const isWaiting = callsIn(message).some(({ state }) => state === 'approval-requested');
      return !isWaiting && !asWaiting(message) && textOf(message);
    };
    // It begins before a pod dies, and ends after all that the others do then.
    return waitUntil(shownNow, { what: 'the whole reply', everyMs: 100, timeoutMs: 300_000 });
  }

  const complete = async (talk: Talk) => void (talk.asked && (await decide(ACTS, talk)));

  /** A tab shows the beginning of the reply. */
  const begins = (pod: number, talk: Talk) =>
    waitUntil(
      async () => {
        const watched = await resume(pod, talk.authorization, CHAT);
        return waitUntil(() => textOf(watched?.seen.message).startsWith(talk.said), {
          what: 'the first words',
        });
      },
      { what: 'the beginning of the reply' },
    );

  /** Tabs read the reply while it grows. */
  const follow =
    (...pods: number[]): Act =>
    async (talk) => {
      await Promise.all(pods.map((pod) => begins(pod, talk)));
      const reading = Promise.all(pods.map((pod) => readToEnd(pod, talk)));
      return async () => {
        await complete(talk);
        const shown = await reading;
        expect(shown[0]).toMatch(talk.whole);
        expect(shown[0]?.startsWith(talk.said)).toBe(true);
        expect(new Set(shown).size).toBe(1);
      };
    };

  /** What waits, as a tab shows it. */
  async function showsWhatWaits(pod: number, talk: Talk): Promise<void> {
    const message = await (await resume(pod, talk.authorization, CHAT))?.done;
    expect(textOf(message)).toContain(talk.said);
    if (talk.asked?.kind === 'question') {
      expect(asWaiting(message)).toBe(true);
      expect(questionsIn(message)).toMatchObject([{ elicitationId: talk.asked.id, status: 'pending' }]);
      return;
    }
    const calls = [{ state: 'approval-requested', approval: { id: talk.asked?.id } }];
    expect(callsIn(message)).toMatchObject(calls);
    expect(callsIn((await historyOf(pod, talk)).messages.at(-1))).toMatchObject(calls);
  }

  const showsNothing: Act = async (talk) => {
    expect(await historyOf(SECOND, talk)).toMatchObject({ status: 404, messages: [] });
    expect(await resume(SECOND, talk.authorization, CHAT)).toBeUndefined();
    return undefined;
  };

  const showsWhatWasSaid: Act = async (talk) => {
    const last = (await historyOf(SECOND, talk)).messages.at(-1);
    expect(textOf(last)).toContain(talk.said);
    expect(textOf(last)).toMatch(talk.answer === '12A' ? talk.whole : talk.said);
    expect(last?.metadata).toEqual(talk.answer === undefined ? { isCut: true } : undefined);
    expect(await resume(SECOND, talk.authorization, CHAT)).toBeUndefined();
    return undefined;
  };

  return {
    states: {
      'none yet': async () => ({ ...(await person()), said: '', whole: /^$/ }),
      'its model speaks or thinks': speaking,
      'waits for an answer': asking,
      'waits for an answer, detached': () => asking('detach'),
      'waits for approvals': toApprove,
      'was stopped': () => ended(),
      'has finished': () => ended('12A'),
      'has failed': () => ended('reject'),
      'its pod has died: it waits for an answer': asking,
      'its pod has died: it waits for approvals': toApprove,
      'its pod has died: its model spoke': speaking,
    },
    acts: {
      'a message': {
        'begins a turn': async ({ authorization }) => {
          const { done } = await begin(authorization, HELLO, { pod: ACTS });
          return async () => expect(textOf(await done)).toBe(REPLY);
        },
        'is refused: `turn_running`': async ({ authorization }) => {
          await expect(begin(authorization, HELLO, { pod: ACTS })).rejects.toThrow('turn_running');
          return undefined;
        },
        'denies the calls, and is answered next': async (talk) => {
          const { done } = await begin(talk.authorization, HELLO, { pod: ACTS, agent: 'desk' });
          return async () => {
            expect(textOf(await done)).toBe(REPLY);
            const { messages } = await historyOf(SECOND, talk);
            expect(messages.slice(1).map(textOf)).toEqual(['One moment. ', HELLO, REPLY]);
            const denied = { state: 'output-denied', approval: { id: talk.asked?.id, reason: HELLO } };
            expect(callsIn(messages[1])).toMatchObject([denied]);
          };
        },
      },
      'a decision': {
        'finds nothing: 404': async (talk) => {
          expect((await decide(ACTS, talk)).status).toBe(404);
          return undefined;
        },
        'counts, and the turn goes on': async (talk) => {
          expect((await decide(ACTS, talk)).status).toBe(200);
          return async () => expect(await readToEnd(SECOND, talk)).toMatch(talk.whole);
        },
        'counts once: another is refused': async (talk) => {
          const replies = [await decide(ACTS, talk), await decide(SECOND, talk, 'another')];
          expect(replies.map(({ status }) => status)).toEqual([200, 409]);
          return undefined;
        },
        'is refused: `already_settled`': async (talk) => {
          expect(await (await decide(ACTS, talk)).json()).toMatchObject({ code: 'already_settled' });
          return undefined;
        },
      },
      'a reload': {
        'shows nothing': showsNothing,
        'shows what was said': showsWhatWasSaid,
        'shows the reply from its start, and what follows': follow(ACTS),
        'shows what waits': async (talk) => {
          await showsWhatWaits(ACTS, talk);
          return undefined;
        },
      },
      'a second tab': {
        'shows nothing': showsNothing,
        'shows what was said': showsWhatWasSaid,
        'shows the same as the first': follow(ACTS, SECOND),
        'shows what waits; the first decision counts in both': async (talk) => {
          await Promise.all([showsWhatWaits(ACTS, talk), showsWhatWaits(SECOND, talk)]);
          expect((await decide(SECOND, talk)).status).toBe(200);
          expect((await decide(ACTS, talk, 'deny')).status).toBe(409);
          return async () => {
            const shown = await Promise.all([readToEnd(ACTS, talk), readToEnd(SECOND, talk)]);
            for (const text of shown) expect(text).toMatch(talk.whole);
          };
        },
      },
      'a stop': {
        'does nothing': async (talk) => {
          expect(await (await stop(talk)).json()).toEqual({ stopped: false });
          return undefined;
        },
        'ends it, and what was said stays': async (talk) => {
          await stopToEnd(talk);
          const last = (await historyOf(SECOND, talk)).messages.at(-1);
          expect(textOf(last)).toContain(talk.said);
          expect(last?.metadata).toEqual({ isCut: true });
          return undefined;
        },
        'ends it; the words of the step under way may be gone': async (talk) => {
          await stopToEnd(talk);
          return undefined;
        },
      },
    },
  };
}

function callsIn(message: UIMessage | undefined) {
  return (message?.parts ?? []).filter(isToolUIPart);
}

/** True for a message whose stream ended because its turn is detached. */
function asWaiting(message: UIMessage | undefined): boolean {
  const { parley } = (message?.metadata ?? {}) as { readonly parley?: { readonly state?: string } };
  return parley?.state === 'waiting';
}
