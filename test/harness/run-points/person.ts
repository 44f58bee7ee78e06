import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '@parley/shared/domain/runs/run';
import { conversationKey } from '@parley/shared/redis/client/keys';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { type Asked, person, questionsIn, textOf } from '../chat/client.ts';
import { type AskedApproval, approvalsIn, type Choice, decisionOf } from './decisions.ts';
import type { RunPod, RunSite } from './site.ts';

/** Tenant of a token that names none. */
export const TENANT = 'default';

/** A person with one conversation, which is named after their message. */
export interface Talk {
  readonly name: string;
  readonly userId: string;
  readonly authorization: string;
  /** How the turn waits for the answer: held or detached. */
  readonly delivery: Delivery;
  /** What the person decides on a call that needs their approval. */
  readonly choice: Choice;
  /** True once a pod has refused to begin the turn: if the turn has begun nevertheless, it is ended. */
  wasRefused: boolean;
}

export interface PersonHooks {
  /** Called when the person sees the first question; the person answers after it resolves. */
  readonly onQuestion?: (question: Asked) => Promise<void>;
  /** As `onQuestion`, for calls that need the person's approval. */
  readonly onApproval?: (approval: AskedApproval) => Promise<void>;
}

type Chunks = Parameters<typeof readUIMessageStream>[0]['stream'];

// Readers of detached turns come back this often for as long as the turn lasts: each look costs a pod a request.
const AGAIN_MS = 200;
// Statuses to which no other pod would reply differently.
const WRONG = /invalid_request|unauthenticated|forbidden/;
const UNAVAILABLE = /"unavailable"/;
// Statuses with which an answer may be refused for good.
const SETTLED = [200, 404, 409, 410, 422];

/** Creates a person without any conversation so far. */
export async function newTalk(
  site: RunSite,
  name: string,
  { delivery = 'hold', choice = 'approve' }: Partial<Pick<Talk, 'delivery' | 'choice'>> = {},
): Promise<Talk> {
  const talk = { name, delivery, choice, ...(await person()), wasRefused: false };
  site.name(talk.userId, name);
  return talk;
}

/** The answer of a conversation's person. */
function answerOf({ name }: Talk): string {
  return `12A for ${name}`;
}

/**
 * Sends one message as a stock chat client does, answers each question, decides on each approval, and continues reading
 * on any pod until the turn has ended.
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
    for (const approval of approvalsIn(message)) {
      const { approvalId, status } = approval;
      if (status !== 'pending' || answering.has(approvalId)) continue;
      answering.set(approvalId, decideOn(site, talk, approval, hooks));
    }
  };
  while (!(await isOver(site, talk))) {
    const stream = await (site.runOf(talk.name) === undefined ? reader.say() : reader.resume());
    const last = stream && (await reader.read(stream, look));
    // The stream has ended for the decisions.
    if (last !== undefined && awaitsApproval(last)) await Promise.all(answering.values());
    // A detached turn ends its stream at once.
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
  // After any failure of a pod, another pod is tried.
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
      // The turn may have begun although the reply was lost.
      return said ?? resume();
    },
    /** Reads a stream to its end; returns the message as it was shown last. */
    async read(stream: Chunks, look: (message: UIMessage) => void): Promise<UIMessage | undefined> {
      connections += 1;
      const place = { conversation: name, connection: `${name}/${connections}` };
      let shown = '';
      let clean = true;
      let last: UIMessage | undefined;
      try {
        for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
          const text = textOf(message);
          if (text !== shown) record({ type: 'seen', ...place, text });
          if (isWaiting(message)) clean = false;
          shown = text;
          last = message;
          look(message);
        }
        if (last !== undefined && awaitsApproval(last)) clean = false;
      } catch {
        clean = false;
      }
      record({ type: 'closed', ...place, clean });
      return last;
    },
  };
}

function isWaiting({ metadata }: UIMessage): boolean {
  return (metadata as { parley?: { state?: string } } | undefined)?.parley?.state === 'waiting';
}

/** True while a stock client waits for its person to decide. */
function awaitsApproval(message: UIMessage): boolean {
  return message.parts.some((part) => 'state' in part && part.state === 'approval-requested');
}

async function answerTo(site: RunSite, talk: Talk, question: Asked, hooks: PersonHooks): Promise<void> {
  await hooks.onQuestion?.(question);
  await untilSettled(async () => answerOnce(site, talk, question, await site.pick()));
}

async function decideOn(site: RunSite, talk: Talk, approval: AskedApproval, hooks: PersonHooks) {
  await hooks.onApproval?.(approval);
  const { event, body } = decisionOf(talk.name, approval, talk.choice);
  site.record(event);
  await untilSettled(async () => {
    const reply = await post(await site.pick(), talk, '/run/api/approval-responses', body);
    site.record({ ...event, reply });
    return reply;
  });
}

/** Repeats a request until its reply says that there is nothing to repeat. */
async function untilSettled(send: () => Promise<number>): Promise<void> {
  while (!SETTLED.includes(await send())) await sleep(AGAIN_MS);
}

/** Status of the reply; 0 when none came. */
function post({ url }: RunPod, { authorization }: Talk, path: string, body: object): Promise<number> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then(
    ({ status }) => status,
    () => 0,
  );
}

/** Answers through one pod; returns the status of the reply, 0 when none came. */
export async function answerOnce(
  { record }: RunSite,
  talk: Talk,
  { elicitationId }: Asked,
  pod: RunPod,
): Promise<number> {
  const { name } = talk;
  const answer = answerOf(talk);
  const body = { conversationId: name, elicitationId, action: 'accept', content: { answer } };
  const httpStatus = await post(pod, talk, '/run/api/elicitation-responses', body);
  record({ type: 'answer', conversation: name, elicitationId, answer, httpStatus });
  return httpStatus;
}

/** True once the conversation's turn has begun and ended. */
async function isOver({ redis, runOf }: RunSite, { userId, name }: Talk): Promise<boolean> {
  if (runOf(name) === undefined) return false;
  const key = conversationKey({ tenant: TENANT, userId, conversationId: name });
  return (await redis.hget(key, 'running')) === null;
}
