import { randomBytes, randomUUID } from 'node:crypto';
import { SIZE } from '../size.ts';
import { ABUSED_AGENT } from './agents.ts';
import type { Send } from './send.ts';

/** The abuser's tenant; no ordinary user belongs to it. */
export const ABUSED_TENANT = 'initech';

/** Who abuses: a user, or a service key. */
export type AbuseMode = 'user' | 'key';

/** One kind of abuse: at most so many calls a second, over at most so many connections. */
export interface Attack {
  readonly name: string;
  readonly perSecond: number;
  readonly atOnce: number;
  /** One call; returns its status and the code of its problem. */
  readonly call: () => ReturnType<Send>;
  /** A code that the abuser must have met, such as `429 read_quota`. */
  readonly expects?: string;
}

export interface AttackContext {
  readonly send: Send;
  readonly userId: string;
  readonly userToken: string;
  readonly serviceKey: string;
}

const LARGE_MESSAGE = 'x'.repeat(250_000);
const OVERSIZED = JSON.stringify({ userId: 'x', message: 'x'.repeat(300_000) });
const LONG_TEXT = 'y'.repeat(9_900);
const HOLD_MS = 3_000;
/** An id of the right form that nothing has. */
const unknownId = () => `el_07${randomBytes(16).toString('base64url')}`;

/** A question near the limits of a question's size: about 40 kB. */
function largeQuestion(userId: string): object {
  const properties = Object.fromEntries(
    Array.from({ length: 48 }, (_, index) => [
      `field${index}`,
      { type: 'string', description: 'z'.repeat(500) },
    ]),
  );
  const requestedSchema = { type: 'object', properties };
  return { userId, mode: 'form', message: LONG_TEXT, requestedSchema, timeoutSeconds: 300 };
}

function chatBody(text: string, id: string): string {
  const messages = [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }];
  return JSON.stringify({ id, agent: ABUSED_AGENT, messages });
}

/** What an abusive user does, all at once. Their tenant's service key asks them large questions as well. */
export function attacksOfUser({ send, userId, userToken: token, serviceKey }: AttackContext): Attack[] {
  const large = ['one', 'two', 'three'];
  let turn = 0;
  const nextLarge = () => large[turn++ % large.length] as string;
  const post = (path: string, body: string) => send({ method: 'POST', path, token, body });
  return [
    {
      name: 'chat messages of 250 kB',
      perSecond: 8,
      atOnce: 4,
      call: () => post('/run/api/chat', chatBody(LARGE_MESSAGE, nextLarge())),
      // With the limits of a soak, which are the defaults, the tokens of the day are used up first.
      expects: SIZE.full ? '429 token_quota' : '429 storage_quota',
    },
    {
      name: 'new conversations',
      perSecond: 15,
      atOnce: 4,
      call: () => post('/run/api/chat', chatBody('hello', randomUUID())),
    },
    {
      name: 'lists that match nothing',
      perSecond: 60,
      atOnce: 4,
      call: () => send({ path: '/v1/elicitations?status=pending&conversationId=nope', token }),
      expects: '429 read_quota',
    },
    {
      name: 'lists of everything',
      perSecond: 10,
      atOnce: 2,
      call: () => send({ path: '/v1/elicitations?limit=100', token }),
    },
    {
      name: 'histories of large chats',
      perSecond: 10,
      atOnce: 2,
      call: () => send({ path: `/run/api/chat/${nextLarge()}/messages`, token }),
    },
    {
      name: 'lists of chats',
      perSecond: 10,
      atOnce: 2,
      call: () => send({ path: '/run/api/chats?limit=100', token }),
    },
    {
      name: 'inboxes, beyond the limit of streams',
      perSecond: 12,
      atOnce: 30,
      call: () => send({ path: '/v1/inbox/events', token, holdMs: HOLD_MS }),
    },
    {
      name: 'answers to unknown ids',
      perSecond: 60,
      atOnce: 4,
      call: () => post(`/v1/elicitations/${unknownId()}/response`, '{"action":"decline"}'),
      expects: '429 rate_limited',
    },
    {
      name: 'large open questions',
      perSecond: 20,
      atOnce: 2,
      call: () =>
        send({
          method: 'POST',
          path: '/v1/elicitations',
          token: serviceKey,
          body: JSON.stringify(largeQuestion(userId)),
        }),
    },
    {
      name: 'bodies above the limit',
      perSecond: 10,
      atOnce: 2,
      call: () => post('/run/api/chat', OVERSIZED),
      expects: '413 too_large',
    },
    {
      name: 'bad tokens',
      perSecond: 40,
      atOnce: 4,
      call: () =>
        send({
          path: '/v1/elicitations',
          token: `${token.slice(0, -8)}${randomBytes(6).toString('base64url')}`,
        }),
      expects: '401 unauthenticated',
    },
  ];
}

/** What a stolen or runaway service key does, all at once, in the names of many users. */
export function attacksOfKey({ send, userId, serviceKey: token }: AttackContext): Attack[] {
  let user = 0;
  const nextUser = () => `${userId}-${user++ % 200}`;
  const post = (path: string, body: string) => send({ method: 'POST', path, token, body });
  return [
    {
      name: 'large open questions to many users',
      perSecond: 40,
      atOnce: 4,
      call: () => post('/v1/elicitations', JSON.stringify(largeQuestion(nextUser()))),
      expects: '429 rate_limited',
    },
    {
      name: 'lists of many users',
      perSecond: 60,
      atOnce: 4,
      call: () => send({ path: `/v1/elicitations?userId=${nextUser()}&status=pending`, token }),
    },
    {
      name: 'unknown questions',
      perSecond: 200,
      atOnce: 16,
      call: () => send({ path: `/v1/elicitations/${unknownId()}`, token }),
    },
    {
      name: 'chat messages of 250 kB',
      perSecond: 8,
      atOnce: 4,
      call: () => post('/run/api/chat', chatBody(LARGE_MESSAGE, nextUser())),
    },
    {
      name: 'streams that nobody asked on',
      perSecond: 12,
      atOnce: 30,
      call: () =>
        send({ path: `/v1/streams/sr-${randomUUID()}/events?userId=${nextUser()}`, token, holdMs: HOLD_MS }),
    },
    {
      name: 'bodies above the limit',
      perSecond: 10,
      atOnce: 2,
      call: () => post('/v1/elicitations', OVERSIZED),
      expects: '413 too_large',
    },
    {
      name: 'bad keys',
      perSecond: 40,
      atOnce: 4,
      call: () => send({ path: '/v1/elicitations', token: randomUUID() }),
      expects: '401 unauthenticated',
    },
  ];
}

/** The codes that the abuser must have met, by attack. */
export function expectedReplies(mode: AbuseMode): readonly (readonly [attack: string, reply: string])[] {
  const nobody = { send: async () => '', userId: '', userToken: '', serviceKey: '' };
  const attacks = (mode === 'user' ? attacksOfUser : attacksOfKey)(nobody);
  return attacks.flatMap(({ name, expects }) => (expects === undefined ? [] : [[name, expects] as const]));
}
