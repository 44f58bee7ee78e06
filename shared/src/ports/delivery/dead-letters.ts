import type { WebhookFault } from '../../domain/webhooks/webhook.ts';
import type { ListOrder } from '../tenant-lists.ts';

/** A webhook that could not be delivered. It contains neither the URL nor the body. */
export interface DeadLetter {
  readonly deliveryId: string;
  readonly elicitationId: string;
  readonly attempts: number;
  readonly lastError: WebhookFault;
  /** HTTP status of the receiver's last reply, if it replied. */
  readonly lastStatus?: number;
  /** When delivery was given up, in ms on the store's clock. */
  readonly diedAt: number;
}

export interface DeadLetterPageRequest {
  readonly tenant: string;
  /** The `nextCursor` of the previous page. */
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
  /** Stores a letter, which replaces an earlier one of the same delivery and gets a later `diedAt` than that one. */
  add(tenant: string, letter: Omit<DeadLetter, 'diedAt'>): Promise<void>;
  /** Undefined when there is no letter, or it has expired. */
  read(tenant: string, deliveryId: string): Promise<DeadLetter | undefined>;
  /** The number of a tenant's letters that have not expired. */
  count(tenant: string): Promise<number>;
  /** A tenant's letters, ordered by `diedAt`. */
  page(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /** Removes a letter; with `diedAt`, only if it has that time and no newer letter replaced it. True when it was removed. */
  remove(tenant: string, deliveryId: string, diedAt?: number): Promise<boolean>;
}
