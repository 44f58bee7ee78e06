import { bucketOf } from '@parley/core/domain/ids';
import { notFound } from '../domain/caller.ts';
import { WEBHOOK_KEEP_MS } from '../domain/webhooks/schedule.ts';
import { isWebhookId } from '../domain/webhooks/webhook.ts';
import type {
  DeadLetter,
  DeadLetterPage,
  DeadLetterPageRequest,
  DeadLetters,
} from '../ports/delivery/dead-letters.ts';
import type { Outbox } from '../ports/delivery/outbox.ts';
import type { Elicitations } from '../ports/elicitations/elicitations.ts';
import { webhookTask } from './deliver-webhook.ts';

interface WebhooksDeps {
  readonly deadLetters: DeadLetters;
  readonly elicitations: Pick<Elicitations, 'read' | 'keep'>;
  /** The outbox to which redriven webhooks are added. */
  readonly outbox: Pick<Outbox, 'add'>;
  /** How long an ended elicitation is kept, in ms. */
  readonly retentionMs: number;
  /** How long a dead letter is kept, in ms. Its elicitation is kept as long. */
  readonly deadLetterMs: number;
}

interface RedriveInput {
  readonly tenant: string;
  readonly deliveryId: string;
}

/** A tenant's view of its failed webhooks, and the call that delivers one again. */
export interface Webhooks {
  /** The webhooks that could not be delivered, newest first. */
  deadLetters(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /**
   * Delivers a webhook again, beginning with the first attempt, and removes its dead letter. Throws `not_found`, also when the
   * retention of the elicitation has ended.
   */
  redrive(input: RedriveInput): Promise<DeadLetter>;
}

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  return {
    deadLetters: (request) => deps.deadLetters.page(request),
    redrive: (input) => redrive(deps, input),
  };
}

async function redrive(
  { deadLetters, elicitations, outbox, retentionMs, deadLetterMs }: WebhooksDeps,
  { tenant, deliveryId }: RedriveInput,
): Promise<DeadLetter> {
  if (!isWebhookId(deliveryId)) throw notFound();
  const letter = await deadLetters.read(tenant, deliveryId);
  if (letter === undefined) throw notFound();
  const { elicitationId, diedAt } = letter;
  const { row } = await elicitations.read(elicitationId);
  if (row !== undefined) {
    // The elicitation is kept at least as long as the letter is listed: after a crash here, the letter can still be redriven.
    await elicitations.keep(elicitationId, Math.max(retentionMs, WEBHOOK_KEEP_MS, deadLetterMs));
    await outbox.add(webhookTask(elicitationId, bucketOf(row.definition)), tenant);
  }
  // The letter is removed after the task was added: a crash in between leaves a surplus letter but loses none. `diedAt` spares
  // a newer letter.
  await deadLetters.remove(tenant, deliveryId, diedAt);
  if (row === undefined) throw notFound();
  return letter;
}
