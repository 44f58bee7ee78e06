import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { mintElicitationId, type Owner } from '@parley/core/domain/ids';
import { type DeliverWebhookDeps, deliverWebhook } from '@parley/shared/delivery/deliver-webhook';
import { createReceivers } from '@parley/shared/delivery/receivers';
import { createWebhooks, type Webhooks } from '@parley/shared/delivery/webhooks';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createWebhookSender, type WebhookSenderOptions } from '@parley/shared/net/webhook-sender';
import type { DeadLetters } from '@parley/shared/ports/delivery/dead-letters';
import type { OutboxResult, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import type { WebhookAttempt } from '@parley/shared/ports/delivery/webhook-observer';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { engineOn } from '../engines/engines.ts';
import type { Pods } from '../engines/pods.ts';
import { askQuestion, newOwner } from '../engines/questions.ts';
import { openRedisPods } from '../engines/redis-pods.ts';
import { ROOMY } from '../engines/settings.ts';
import { listenOnFreePort } from '../free-port.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OTHER_SECRET = 'whsec_bW9yZSB0aGFuIHR3ZW50eS1mb3VyIGJ5dGVz';
export const bytesOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64');

/** What a receiver was sent. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  /** With a path that holds a secret, as such URLs do. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
}

type Reply = (res: ServerResponse, req: IncomingMessage, nth: number) => void;

export const replyWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  (res) =>
    res.writeHead(status, headers).end();

/** A receiver of webhooks on loopback; ends with the test. */
export async function startReceiver(reply: Reply = replyWith(204)): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: path = '', headers } = req;
    received.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    reply(res, req, received.length);
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/hook?key=of-the-receiver`, port, received };
}

/** Verifies as a receiver does: with the code that a vendor of such webhooks gives to its customers. */
export async function verified({ body, headers }: Received, secret = SECRET): Promise<unknown> {
  const client = new OpenAI({ apiKey: 'none', webhookSecret: secret });
  return client.webhooks.unwrap(body, headers as Record<string, string>);
}

/** Everything that delivers webhooks, on Redis, with an outbox in which no time passes. */
export interface Site {
  readonly engine: Engine;
  readonly deadLetters: DeadLetters;
  readonly webhooks: Webhooks;
  /** The attempts, as they were reported. */
  readonly attempts: readonly WebhookAttempt[];
  /** For how long elicitations were to stay, in the order of the wishes. */
  readonly kept: readonly (readonly [id: string, forMs: number])[];
  /** What was put into the outbox and not taken. */
  readonly outbox: readonly OutboxTask[];
  /** Runs between the outbox taking a task and its `add` returning. */
  onAdd?: (task: OutboxTask) => Promise<unknown>;
  secrets: readonly string[];
  deliver(elicitationId: string, attempt?: number): Promise<OutboxResult>;
  /** Delivers until it is done; the pauses in between. */
  drive(elicitationId: string): Promise<number[]>;
  /** Stores a question past all checks, as an older version or another hand may have. */
  plant(webhookUrl: string): Promise<{ owner: Owner; row: Row }>;
  ask(webhookUrl: string, more?: Partial<AskInput>, owner?: Owner): Promise<{ owner: Owner; row: Row }>;
}

/** Longer than a test may take. */
const PATIENT_MS = 600_000;
/** A receiver that took this long is slow. */
export const SLOW_MS = 200;
export const DEAD_LETTER_MS = 30 * 86_400_000;

/** Sites on one Redis, each with a sender and an outbox of its own. */
export async function openSites(redisUrl: string) {
  const pods = await openRedisPods({ kind: 'single', url: redisUrl }, ROOMY);
  const letters = await pods.deadLetters(DEAD_LETTER_MS);
  return {
    open: (sender: WebhookSenderOptions = {}) => siteOn(pods, letters, sender),
    close: () => Promise.all([letters.close(), pods.close()]),
  };
}

function siteOn(
  pods: Pods,
  letters: Awaited<ReturnType<Pods['deadLetters']>>,
  sender: WebhookSenderOptions,
): Site {
  const engine = engineOn(pods.backend, {
    settings: { allowLoopbackHttp: true, webhooks: { hasSecret: () => true, mayCall: () => true } },
  });
  const attempts: WebhookAttempt[] = [];
  const kept: [string, number][] = [];
  const outbox: OutboxTask[] = [];
  const elicitations: Elicitations = {
    ...pods.second.elicitations,
    async keep(id, forMs) {
      kept.push([id, forMs]);
      await pods.second.elicitations.keep(id, forMs);
    },
  };
  const deps: DeliverWebhookDeps = {
    elicitations,
    deadLetters: letters.second,
    send: createWebhookSender({ allowLoopback: true, timeoutMs: PATIENT_MS, ...sender }),
    secretsOf: () => site.secrets.map(bytesOf),
    receivers: createReceivers({ slowMs: SLOW_MS }),
    observer: { attempted: (attempt) => void attempts.push(attempt) },
    retentionMs: ROOMY.retentionMs,
    deadLetterMs: DEAD_LETTER_MS,
    random: () => 0,
  };
  const site: Site = {
    engine,
    deadLetters: letters.first,
    webhooks: createWebhooks({
      deadLetters: letters.first,
      elicitations,
      retentionMs: ROOMY.retentionMs,
      deadLetterMs: DEAD_LETTER_MS,
      outbox: {
        async add(task) {
          outbox.push(task);
          await site.onAdd?.(task);
        },
      },
    }),
    attempts,
    kept,
    outbox,
    secrets: [SECRET],
    deliver: (elicitationId, attempt = 1) => deliverWebhook(deps, { elicitationId, attempt }),
    async drive(elicitationId) {
      const pauses: number[] = [];
      for (let attempt = 1; ; attempt += 1) {
        const result = await site.deliver(elicitationId, attempt);
        if (result === 'done') return pauses;
        if (!('retryInMs' in result)) throw new Error('The receiver had no place for it.');
        pauses.push(result.retryInMs);
      }
    },
    async plant(webhookUrl) {
      const owner = newOwner();
      const asked = await askQuestion(engine, owner);
      const id = mintElicitationId(owner);
      const created = await pods.backend.elicitations.create(id, { ...asked.row.definition, webhookUrl });
      if (created === undefined) throw new Error('The question was refused.');
      return { owner, row: created.row };
    },
    async ask(webhookUrl, more = {}, owner = newOwner()) {
      const { row } = await askQuestion(engine, owner, { webhookUrl, ...more });
      return { owner, row };
    },
  };
  return site;
}
