/** What a tenant has lists of: its records by family, its turns, and its outstanding deliveries, none of which is listed as ended. */
export const LISTED_KINDS = ['elicitations', 'approvals', 'turns', 'deliveries'] as const;
export type ListedKind = (typeof LISTED_KINDS)[number];

/** Which of a tenant's lists: what is open by the time at which it began, what has ended by the time at which it did. */
export const LISTED_STATES = ['open', 'ended'] as const;
type ListedState = (typeof LISTED_STATES)[number];

/** The orders of a list, by the time that its state names. */
export const LIST_ORDERS = ['newest', 'oldest'] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** A place in a list: ms on the store's clock, and what is listed there; ties go by `member`. */
export interface ListPlace {
  readonly at: number;
  /** The id of a record, the path of a turn (`formatStreamPath`), or the kind and the subject of a delivery, with a space. */
  readonly member: string;
}

/** Which part of which list. */
export interface ListSliceRequest {
  readonly tenant: string;
  readonly kind: ListedKind;
  readonly state: ListedState;
  readonly order: ListOrder;
  /** Only places behind this one. */
  readonly after?: ListPlace;
  /** Only entries that may be this person's. Open records are theirs alone; other entries are all of their bucket. */
  readonly userId?: string;
  /** Only entries of this bucket. */
  readonly bucket?: number;
  /** Only what began (open) or ended at least, and at most, so long ago, in ms. */
  readonly minAgeMs?: number;
  readonly maxAgeMs?: number;
  readonly limit: number;
}

/** A part of a list, by the time that has passed since. */
export type ListRange = Pick<ListSliceRequest, 'state' | 'minAgeMs' | 'maxAgeMs'>;

/**
 * The lists of what a tenant has, over all of its users. The commits keep them, each in the same atomic step as the record,
 * so that a list is as true as the record is. What ended is listed for the retention, or a little longer: the rows tell.
 * Every call costs the same, whatever other tenants store, and throws `unavailable`.
 */
export interface TenantLists {
  /** The first places of a list, fewer than `limit` only where the list ends. */
  slice(request: ListSliceRequest): Promise<readonly ListPlace[]>;
  /** How many places each range has. The lists are counted, not the rows: a place that would be mended counts. */
  count(tenant: string, kind: ListedKind, ranges: readonly ListRange[]): Promise<readonly number[]>;
  /**
   * Makes the place of one record or turn agree with it: a loss of data, or a process of an earlier version, may have left a wrong
   * place. Deliveries have `Outbox.unlist` for this.
   */
  mend(tenant: string, kind: ListedKind, member: string): Promise<void>;
}
