import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '@parley/shared/domain/runs/run';
import { conversationKey } from '@parley/shared/redis/client/keys';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { type Asked, person, questionsIn, textOf } from '../../e2e/chat/client.ts';
import type { RunPod, RunSite } from './site.ts';

/** Tenant of a person's token that names none. */
export const TENANT = 'default';

/** A person in the one conversation that they have; it has the name of what they say in it. */
export interface Talk {
  readonly name: string;
  readonly userId: string;
  readonly authorization: string;
  /** What becomes of the turn while the person thinks. */
  readonly delivery: Delivery;
  /** True once a pod has said that it cannot begin the turn now: should it have begun all the same, it is ended. */
  wasRefused: boolean;
}

export interface PersonHooks {
  /** The person sees the first question, and does not answer it before this resolves. */
  readonly onQuestion?: (question: Asked) => Promise<void>;
}

type Chunks = Parameters<typeof readUIMessageStream>[0]['stream'];

const AGAIN_MS = 50;
// What no other pod would say otherwise.
const WRONG = /invalid_request|unauthenticated|forbidden/;
const UNAVAILABLE = /"unavailable"/;
// What an answer may be refused with for good.
const SETTLED = [200, 404, 409, 410, 422];

/** A person whom nobody talked with before. */
export async function newTalk(site: RunSite, name: string, delivery: Delivery = 'hold'): Promise<Talk> {
  const talk = { name, delivery, ...(await person()), wasRefused: false };
  site.name(talk.userId, name);
  return talk;
}

/** What the person of a conversation answers. */
function answerOf({ name }: Talk): string {
  return `12A for ${name}`;
}

/**
 * Says one thing as a stock chat client does, answers what is asked, and reads on wherever somebody still tells it,
 * until the turn has ended.
 */
export async function converse(site: RunSite, talk: Talk, hooks: PersonHooks = {}): Promise<void> {
  const reader = createReader(site, talk);
  const answering = new Map<string, Promise<void>>();
  const look = (message: UIMessage) => {
    for (const question of questionsIn(message)) {
      const { elicitationId, status } = question;
      if (status !== 'pending' || answering.has(elicitationId)) continue;
      answering.set(elicitationId, answerTo(site, talk, question, answering.size === 0 ? hooks : {}));
    }
  };
  while (!(await isOver(site, talk))) {
    const stream = await (site.runOf(talk.name) === undefined ? reader.say() : reader.resume());
    if (stream !== undefined) await reader.read(stream, look);
    // A turn that waits ends what is read of it at once.
    if (stream === undefined || talk.delivery === 'detach') await sleep(AGAIN_MS);
  }
  await Promise.all(answering.values());
}

function createReader({ pick, pickIdle, record }: RunSite, talk: Talk) {
  const { name, authorization } = talk;
  let connections = 0;
  const transportTo = ({ url }: RunPod) =>
    new DefaultChatTransport<UIMessage>({
      api: `${url}/run/api/chat`,
      headers: {
        authorization,
        'x-supports-elicitation': 'true',
        'x-parley-delivery': talk.delivery,
      },
    });
  // Whatever goes wrong with a pod, another is asked next.
  const orNothing = (stream: Promise<Chunks | null>) =>
    stream.then(
      (open) => open ?? undefined,
      (error: unknown) => {
        if (WRONG.test(String(error))) throw error;
        talk.wasRefused ||= UNAVAILABLE.test(String(error));
        return undefined;
      },
    );
  const resume = async () => orNothing(transportTo(await pick()).reconnectToStream({ chatId: name }));

  return {
    resume,
    async say(): Promise<Chunks | undefined> {
      const said = await orNothing(
        transportTo(await pickIdle()).sendMessages({
          trigger: 'submit-message',
          chatId: name,
          messageId: undefined,
          messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: name }] }],
          abortSignal: undefined,
        }),
      );
      // It may have begun although its reply was lost.
      return said ?? resume();
    },
    async read(stream: Chunks, look: (message: UIMessage) => void): Promise<void> {
      connections += 1;
      const place = { conversation: name, connection: `${name}/${connections}` };
      let shown = '';
      let clean = true;
      try {
        for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
          const text = textOf(message);
          if (text !== shown) record({ type: 'seen', ...place, text });
          if (isWaiting(message)) clean = false;
          shown = text;
          look(message);
        }
      } catch {
        clean = false;
      }
      record({ type: 'closed', ...place, clean });
    },
  };
}

function isWaiting({ metadata }: UIMessage): boolean {
  return (metadata as { parley?: { state?: string } } | undefined)?.parley?.state === 'waiting';
}

async function answerTo(site: RunSite, talk: Talk, question: Asked, hooks: PersonHooks): Promise<void> {
  await hooks.onQuestion?.(question);
  for (;;) {
    const status = await answerOnce(site, talk, question, await site.pick());
    if (SETTLED.includes(status)) return;
    await sleep(AGAIN_MS);
  }
}

/** Answers through one pod; the status that came back, 0 when none did. */
export async function answerOnce(
  { record }: RunSite,
  talk: Talk,
  { elicitationId }: Asked,
  { url }: RunPod,
): Promise<number> {
  const { name, authorization } = talk;
  const answer = answerOf(talk);
  const body = { conversationId: name, elicitationId, action: 'accept', content: { answer } };
  const httpStatus = await fetch(`${url}/run/api/elicitation-responses`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then(
    ({ status }) => status,
    () => 0,
  );
  record({ type: 'answer', conversation: name, elicitationId, answer, httpStatus });
  return httpStatus;
}

/** True once the conversation's turn has begun and none runs in it any more. */
async function isOver({ redis, runOf }: RunSite, { userId, name }: Talk): Promise<boolean> {
  if (runOf(name) === undefined) return false;
  const key = conversationKey({ tenant: TENANT, userId, conversationId: name });
  return (await redis.hget(key, 'running')) === null;
}
