import type { Row } from '../domain/elicitations/row.ts';
import { pauseAfter, WEBHOOK_KEEP_MS } from '../domain/webhooks/schedule.ts';
import { type WebhookFault, webhookEventOf, webhookIdOf } from '../domain/webhooks/webhook.ts';
import type { DeadLetters } from '../ports/delivery/dead-letters.ts';
import type { OutboxResult } from '../ports/delivery/outbox.ts';
import type { WebhookObserver } from '../ports/delivery/webhook-observer.ts';
import type { SendWebhook, WebhookReply } from '../ports/delivery/webhook-sender.ts';
import type { Elicitations } from '../ports/elicitations/elicitations.ts';
import type { Receivers } from './receivers.ts';

export interface DeliverWebhookDeps {
  readonly elicitations: Pick<Elicitations, 'read' | 'keep'>;
  readonly deadLetters: Pick<DeadLetters, 'add' | 'remove'>;
  readonly send: SendWebhook;
  /** The secrets that sign a tenant's webhooks; empty when it has none. */
  readonly secretsOf: (tenant: string) => readonly Uint8Array[];
  readonly observer: WebhookObserver;
  /** How long an ended elicitation stays, in ms. */
  readonly retentionMs: number;
  /** How long a dead letter stays, in ms; its elicitation has to be there as long, or nothing could be sent again. */
  readonly deadLetterMs: number;
  /** Has a place for each receiver that is quick, and few for those that are not. */
  readonly receivers: Receivers;
  /** 0 to 1, for the jitter of the schedule. */
  readonly random?: () => number;
}

export interface DeliverWebhookInput {
  readonly elicitationId: string;
  /** How often it was tried, this time included. */
  readonly attempt: number;
}

/** What a reply comes to. */
type Verdict =
  | { readonly type: 'delivered'; readonly status: number }
  | {
      readonly type: 'failed';
      readonly fault: WebhookFault;
      readonly final: boolean;
      readonly status?: number;
      readonly retryAfterMs?: number;
    };

// Trying again would come to the same, or is not wanted.
const FINAL_FAULTS: ReadonlySet<WebhookFault> = new Set(['refused_url', 'refused_address', 'gone']);

/**
 * One attempt to tell an asker how its elicitation ended. Repeating it is harmless: receivers know the webhook by its
 * id, and a dead letter is written over the one of before. Throws `unavailable` when the store is away; the attempt is
 * then to be made again.
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
  const entry = deps.receivers.enter(url);
  if (entry.type === 'full') return { deferInMs: entry.deferInMs };
  const reply: WebhookReply =
    secrets.length === 0
      ? { type: 'failed', fault: 'no_secret' }
      : await deps.send({ url, webhookId, body: JSON.stringify(event), secrets, now });
  entry.leave(reply);
  const verdict = verdictOf(reply);
  return verdict.type === 'delivered'
    ? delivered(deps, row, attempt, verdict.status)
    : again(deps, row, attempt, verdict);
}

function verdictOf(reply: WebhookReply): Verdict {
  if (reply.type === 'failed') return failed(reply.fault);
  const { status, retryAfterMs } = reply;
  if (status >= 200 && status < 300) return { type: 'delivered', status };
  const verdict = failed(status === 410 ? 'gone' : 'status');
  return { ...verdict, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function failed(fault: WebhookFault): Verdict & { type: 'failed' } {
  return { type: 'failed', fault, final: FINAL_FAULTS.has(fault) };
}

async function delivered(
  deps: DeliverWebhookDeps,
  { id, definition: { tenant } }: Row,
  attempt: number,
  status: number,
): Promise<OutboxResult> {
  deps.observer.attempted({ elicitationId: id, tenant, attempt, outcome: 'delivered', status });
  // It has arrived; what is left to tidy must not make it be sent once more.
  await Promise.allSettled([
    deps.deadLetters.remove(tenant, webhookIdOf(id)),
    deps.elicitations.keep(id, deps.retentionMs),
  ]);
  return 'done';
}

async function again(
  deps: DeliverWebhookDeps,
  { id, definition: { tenant } }: Row,
  attempt: number,
  { fault, final, status, retryAfterMs }: Verdict & { type: 'failed' },
): Promise<OutboxResult> {
  const random = (deps.random ?? Math.random)();
  const retryInMs = final ? undefined : pauseAfter({ attempt, retryAfterMs, random });
  const told = { elicitationId: id, tenant, attempt, fault, ...(status !== undefined && { status }) };
  if (retryInMs !== undefined) {
    // From now on: workers may be away for long before the next attempt.
    await deps.elicitations.keep(id, Math.max(deps.retentionMs, WEBHOOK_KEEP_MS));
    deps.observer.attempted({ ...told, outcome: 'again', retryInMs });
    return { retryInMs };
  }
  // The letter before the end: dying in between repeats the attempt, and loses nothing.
  await deps.elicitations.keep(id, Math.max(deps.retentionMs, deps.deadLetterMs));
  await deps.deadLetters.add(tenant, {
    deliveryId: webhookIdOf(id),
    elicitationId: id,
    attempts: attempt,
    lastError: fault,
    ...(status !== undefined && { lastStatus: status }),
  });
  deps.observer.attempted({ ...told, outcome: 'dead' });
  return 'done';
}
