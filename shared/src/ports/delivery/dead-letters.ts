import type { WebhookFault } from '../../domain/webhooks/webhook.ts';
import type { ListOrder } from '../tenant-lists.ts';

/** A webhook that could not be delivered. It contains neither the URL nor the body. */
export interface DeadLetter {
  readonly deliveryId: string;
  readonly elicitationId: string;
  /** Number of attempts. */
  readonly attempts: number;
  readonly lastError: WebhookFault;
  /** HTTP status of the receiver's last reply, if it replied. */
  readonly lastStatus?: number;
  /** Ms on the store's clock. */
  readonly diedAt: number;
}

export interface DeadLetterPageRequest {
  readonly tenant: string;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  readonly limit: number;
  /** `newest` when absent. */
  readonly order?: ListOrder;
}

export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetter[];
  readonly nextCursor?: string;
}

/** The dead letters of all tenants, shared by all pods. They expire. Every call throws `unavailable`. */
export interface DeadLetters {
  /** Stores a letter in place of an earlier one of the same delivery, and stamps a later `diedAt` than that one had. */
  add(tenant: string, letter: Omit<DeadLetter, 'diedAt'>): Promise<void>;
  /** Nothing when there is none, or it has expired. */
  read(tenant: string, deliveryId: string): Promise<DeadLetter | undefined>;
  /** How many letters of a tenant have not expired. */
  count(tenant: string): Promise<number>;
  /** A tenant's letters, by the time at which they died. */
  page(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /** Removes a letter; with `diedAt` only the one that died then, and not a newer one. True when it was there. */
  remove(tenant: string, deliveryId: string, diedAt?: number): Promise<boolean>;
}
