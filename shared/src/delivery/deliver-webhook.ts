/**
 * One attempt to deliver the webhook of an ended elicitation, with its verdict and its dead letter. The HTTP call is in
 * `net/webhook-sender.ts`, and the schedule of attempts in `domain/webhooks/schedule.ts`.
 */

import { isTerminal } from '@parley/core/domain/elicitations/status';
import { bucketOf, bucketOfElicitationId } from '@parley/core/domain/ids';
import type { Row } from '../domain/elicitations/row.ts';
import { pauseAfter, WEBHOOK_KEEP_MS } from '../domain/webhooks/schedule.ts';
import { type WebhookFault, webhookEventOf, webhookIdOf } from '../domain/webhooks/webhook.ts';
import type { DeadLetters } from '../ports/delivery/dead-letters.ts';
import { type DeliveryKind, NOT_UNDERSTOOD } from '../ports/delivery/kind.ts';
import type { OutboxResult, OutboxTask } from '../ports/delivery/outbox.ts';
import type { WebhookObserver } from '../ports/delivery/webhook-observer.ts';
import type { SendWebhook, WebhookReply } from '../ports/delivery/webhook-sender.ts';
import type { Elicitations } from '../ports/elicitations/elicitations.ts';
import { RECEIVER_PLACES, type Receivers } from './receivers.ts';

export interface DeliverWebhookDeps {
  readonly elicitations: Pick<Elicitations, 'read' | 'keep'>;
  readonly deadLetters: Pick<DeadLetters, 'add' | 'remove'>;
  readonly send: SendWebhook;
  /** The secrets that sign a tenant's webhooks; empty for a tenant without secrets. */
  readonly secretsOf: (tenant: string) => readonly Uint8Array[];
  readonly observer: WebhookObserver;
  /** How long an ended elicitation is kept, in ms. */
  readonly retentionMs: number;
  /** How long a dead letter is kept, in ms. Its elicitation is kept as long, because redelivery needs it. */
  readonly deadLetterMs: number;
  /** Shares the places for deliveries among tenants and receivers. */
  readonly receivers: Receivers;
  /** Returns 0 to 1, for the jitter of the schedule. */
  readonly random?: () => number;
}

interface DeliverWebhookInput {
  readonly elicitationId: string;
  /** Number of this attempt; the first is 1. */
  readonly attempt: number;
}

const WEBHOOK = 'webhook';

/** The delivery kind that posts the end of an elicitation to the `webhookUrl` of its ask; `deliver` makes one attempt. */
export function webhookKind(deliver: (input: DeliverWebhookInput) => Promise<OutboxResult>): DeliveryKind {
  return {
    name: WEBHOOK,
    places: RECEIVER_PLACES,
    taskOn: ({ id, definition, status }) =>
      definition.webhookUrl !== undefined && isTerminal(status)
        ? webhookTask(id, bucketOf(definition))
        : undefined,
    keepEndedMs: WEBHOOK_KEEP_MS,
    async handle({ subject }, attempt) {
      if (bucketOfElicitationId(subject) === undefined) return NOT_UNDERSTOOD;
      return deliver({ elicitationId: subject, attempt });
    },
  };
}

/** The task that delivers the webhook of an elicitation in this bucket. */
export function webhookTask(elicitationId: string, bucket: number): OutboxTask {
  return { kind: WEBHOOK, subject: elicitationId, bucket };
}

/** What a reply means for the delivery. */
type DeliveryVerdict =
  | { readonly type: 'delivered'; readonly status: number }
  | {
      readonly type: 'failed';
      readonly fault: WebhookFault;
      readonly final: boolean;
      readonly status?: number;
      readonly retryAfterMs?: number;
    };

// Another attempt cannot change these faults; with `gone` the receiver asked for no further attempt.
const FINAL_FAULTS: ReadonlySet<WebhookFault> = new Set(['refused_url', 'refused_address', 'gone']);

/**
 * Makes one attempt to deliver a webhook. It is safe to repeat: receivers recognise the webhook by its id, and a new dead
 * letter replaces an earlier one of the same delivery. Throws `unavailable` when the store cannot be reached; the caller must
 * then repeat the attempt.
 */
export async function deliverWebhook(
  deps: DeliverWebhookDeps,
  { elicitationId, attempt }: DeliverWebhookInput,
): Promise<OutboxResult> {
  const { row, now } = await deps.elicitations.read(elicitationId);
  const url = row?.definition.webhookUrl;
  const event = row === undefined ? undefined : webhookEventOf(row);
  if (row === undefined || url === undefined || event === undefined) {
    deps.observer.attempted({ elicitationId, attempt, outcome: 'dropped' });
    return 'done';
  }
  const webhookId = webhookIdOf(elicitationId);
  const secrets = deps.secretsOf(row.definition.tenant);
  const entry = deps.receivers.enter(row.definition.tenant, url);
  if (entry.type === 'full') return { deferInMs: entry.deferInMs };
  const send = async (): Promise<WebhookReply> =>
    secrets.length === 0
      ? { type: 'failed', fault: 'no_secret' }
      : deps.send({ url, webhookId, body: JSON.stringify(event), secrets, now });
  const reply = await entry.call(send, ({ type }) => type === 'replied').finally(entry.leave);
  const verdict = verdictOf(reply);
  return verdict.type === 'delivered'
    ? recordDelivered(deps, row, attempt, verdict.status)
    : retryOrGiveUp(deps, row, attempt, verdict);
}

function verdictOf(reply: WebhookReply): DeliveryVerdict {
  if (reply.type === 'failed') return failed(reply.fault);
  const { status, retryAfterMs } = reply;
  if (status >= 200 && status < 300) return { type: 'delivered', status };
  const verdict = failed(status === 410 ? 'gone' : 'status');
  return { ...verdict, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function failed(fault: WebhookFault): DeliveryVerdict & { type: 'failed' } {
  return { type: 'failed', fault, final: FINAL_FAULTS.has(fault) };
}

async function recordDelivered(
  deps: DeliverWebhookDeps,
  { id, definition: { tenant } }: Row,
  attempt: number,
  status: number,
): Promise<OutboxResult> {
  deps.observer.attempted({ elicitationId: id, tenant, attempt, outcome: 'delivered', status });
  // The receiver has the webhook, so a failed clean-up must not cause another delivery.
  await Promise.allSettled([
    deps.deadLetters.remove(tenant, webhookIdOf(id)),
    deps.elicitations.keep(id, deps.retentionMs),
  ]);
  return 'done';
}

async function retryOrGiveUp(
  deps: DeliverWebhookDeps,
  { id, definition: { tenant } }: Row,
  attempt: number,
  { fault, final, status, retryAfterMs }: DeliveryVerdict & { type: 'failed' },
): Promise<OutboxResult> {
  const random = (deps.random ?? Math.random)();
  const retryInMs = final ? undefined : pauseAfter({ attempt, retryAfterMs, random });
  const details = { elicitationId: id, tenant, attempt, fault, ...(status !== undefined && { status }) };
  if (retryInMs !== undefined) {
    // Every attempt extends the retention of the elicitation, because no worker may run for a long time before the next
    // attempt.
    await deps.elicitations.keep(id, Math.max(deps.retentionMs, WEBHOOK_KEEP_MS));
    deps.observer.attempted({ ...details, outcome: 'again', retryInMs });
    return { retryInMs, failure: { code: fault, ...(status !== undefined && { status }) } };
  }
  // The person may have been erased during the attempt.
  if ((await deps.elicitations.read(id)).row === undefined) return 'done';
  // The dead letter is written before the task is removed: a crash in between repeats the attempt and loses nothing.
  await deps.elicitations.keep(id, Math.max(deps.retentionMs, deps.deadLetterMs));
  await deps.deadLetters.add(tenant, {
    deliveryId: webhookIdOf(id),
    elicitationId: id,
    attempts: attempt,
    lastError: fault,
    ...(status !== undefined && { lastStatus: status }),
  });
  deps.observer.attempted({ ...details, outcome: 'dead' });
  return 'done';
}
