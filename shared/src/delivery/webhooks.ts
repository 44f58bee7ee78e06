import { WEBHOOK_KEEP_MS } from '../domain/webhooks/schedule.ts';
import { isWebhookId } from '../domain/webhooks/webhook.ts';
import { notFound } from '../elicitations/caller.ts';
import type {
  DeadLetter,
  DeadLetterPage,
  DeadLetterPageRequest,
  DeadLetters,
} from '../ports/delivery/dead-letters.ts';
import type { Outbox } from '../ports/delivery/outbox.ts';
import type { Elicitations } from '../ports/elicitations/elicitations.ts';

export interface WebhooksDeps {
  readonly deadLetters: DeadLetters;
  readonly elicitations: Pick<Elicitations, 'read' | 'keep'>;
  /** Where deliveries wait for their turn. */
  readonly outbox: Pick<Outbox, 'add'>;
  /** How long an ended elicitation stays, in ms. */
  readonly retentionMs: number;
  /** How long a dead letter stays, in ms: as long as its elicitation. */
  readonly deadLetterMs: number;
}

export interface RedriveInput {
  readonly tenant: string;
  readonly deliveryId: string;
}

/** What a tenant can see of its webhooks, and do about them. */
export interface Webhooks {
  /** The ones that could not be delivered, newest first. */
  deadLetters(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /**
   * Has one delivered again, from its first attempt on, and takes it off the list. Errors: `not_found`, also when its
   * elicitation has left in the meantime.
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
    // Never shorter than before: should this end here, the letter can be sent again for as long as it is listed.
    await elicitations.keep(elicitationId, Math.max(retentionMs, WEBHOOK_KEEP_MS, deadLetterMs));
    await outbox.add({ kind: 'webhook', elicitationId });
  }
  // After it: dying in between leaves a letter too many, never one too few. One that came since stays.
  await deadLetters.remove(tenant, deliveryId, diedAt);
  if (row === undefined) throw notFound();
  return letter;
}
