import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

/** A webhook that could not be delivered. It names neither URL nor what was to be sent. */
export interface DeadLetter {
  readonly deliveryId: string;
  readonly elicitationId: string;
  /** How often it was tried. */
  readonly attempts: number;
  readonly lastError: WebhookFault;
  /** What the receiver replied with last, if it did. */
  readonly lastStatus?: number;
  /** Ms on the store's clock. */
  readonly diedAt: number;
}

export interface DeadLetterPageRequest {
  readonly tenant: string;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  readonly limit: number;
}

export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetter[];
  readonly nextCursor?: string;
}

/** The dead letters of every tenant, over all pods; they leave by themselves. Every call throws `unavailable`. */
export interface DeadLetters {
  /** Keeps a letter, over one of the same delivery, and stamps `diedAt`, later than the one of before had. */
  add(tenant: string, letter: Omit<DeadLetter, 'diedAt'>): Promise<void>;
  /** Nothing when there is none, or its time is over. */
  read(tenant: string, deliveryId: string): Promise<DeadLetter | undefined>;
  /** A tenant's letters, newest first. */
  page(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /** Removes a letter; with `diedAt` only that one, and not one which came since. Says whether it was there. */
  remove(tenant: string, deliveryId: string, diedAt?: number): Promise<boolean>;
}
