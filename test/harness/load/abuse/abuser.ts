import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOnFreePort } from '../../free-port.ts';
import { SIZE } from '../size.ts';
import { type AbuseMode, type Attack, type AttackContext, attacksOfKey, attacksOfUser } from './attacks.ts';
import { createSend } from './send.ts';

// The abuser in a process of its own, with the model of its agent, so that what both cost is counted apart.
// POST /begin with an order begins the abuse, POST /replies returns what it got so far, POST /stop ends it and returns all.

/** What the abuser is given when it begins. */
export interface AbuseOrder extends Omit<AttackContext, 'send'> {
  readonly mode: AbuseMode;
  readonly urls: readonly string[];
}

/** Replies by attack and by status with code. */
export type AbuseResult = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface Abuse {
  replies(): AbuseResult;
  stop(): Promise<AbuseResult>;
}

function beginAbuse({ mode, urls, ...context }: AbuseOrder): Abuse {
  const { send, receivedBytes } = createSend(urls);
  const attacks = (mode === 'user' ? attacksOfUser : attacksOfKey)({ ...context, send });
  const replies: Record<string, Record<string, number>> = {};
  const stopping = new AbortController();
  const running = attacks.map((attack) => repeat(attack, stopping.signal, count));

  function count({ name }: Attack, reply: string): void {
    const own = replies[name] ?? {};
    replies[name] = own;
    own[reply] = (own[reply] ?? 0) + 1;
  }

  return {
    replies: () => replies,
    async stop() {
      stopping.abort();
      await Promise.all(running);
      return { ...replies, 'bytes received': { all: receivedBytes() } };
    },
  };
}

// A daily run needs each refusal, and a soak the flood.
const SHARE = SIZE.full ? 1 : 0.2;

/** Repeats one attack over its connections: each call after the reply to the one before, and not above its rate. */
async function repeat(
  attack: Attack,
  stopping: AbortSignal,
  count: (attack: Attack, reply: string) => void,
): Promise<void> {
  const perSecond = SHARE * attack.perSecond;
  const pauseMs = (attack.atOnce * 1000) / perSecond;
  const connection = async (index: number) => {
    let dueAt = performance.now() + (index * 1000) / perSecond;
    while (!stopping.aborted) {
      await sleep(Math.max(0, dueAt - performance.now()), undefined, { signal: stopping }).catch(
        () => undefined,
      );
      if (stopping.aborted) return;
      dueAt = Math.max(dueAt, performance.now() - pauseMs) + pauseMs;
      count(attack, await attack.call());
    }
  };
  await Promise.all(Array.from({ length: attack.atOnce }, (_, index) => connection(index)));
}

const CHUNKS = [
  { delta: { role: 'assistant', content: 'Thank you.' }, finish_reason: null },
  { delta: {}, finish_reason: 'stop' },
].map((choice) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'endless',
  choices: [{ index: 0, ...choice }],
}));

/** Replies as a model does, without a look at what it is sent. */
function replyAsModel(req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  req.once('end', () => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(
      `${[...CHUNKS.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((line) => `data: ${line}\n\n`).join('')}`,
    );
  });
}

let abuse: Abuse | undefined;

async function control(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.url === '/v1/chat/completions') return replyAsModel(req, res);
  if (req.url === '/begin') abuse = beginAbuse((await json(req)) as AbuseOrder);
  const result = req.url === '/stop' ? await abuse?.stop() : abuse?.replies();
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result ?? {}));
}

const server = createServer((req, res) => void control(req, res).catch(() => res.destroy()));
void listenOnFreePort(server).then((port) => {
  process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`);
});
