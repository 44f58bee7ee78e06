/** The lists of a tenant: its records by family, its turns, and its outstanding deliveries. Deliveries have no `ended` list. */
export const LISTED_KINDS = ['elicitations', 'approvals', 'turns', 'deliveries'] as const;
export type ListedKind = (typeof LISTED_KINDS)[number];

/** `open` lists what is open, by its start; `ended` lists what has ended, by its end. */
export const LISTED_STATES = ['open', 'ended'] as const;
type ListedState = (typeof LISTED_STATES)[number];

/** The orders of a list, by the time that `LISTED_STATES` names. */
export const LIST_ORDERS = ['newest', 'oldest'] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** A place in a list: a time in ms on the store's clock, and the listed thing. Equal times are ordered by `member`. */
export interface ListPlace {
  readonly at: number;
  /** The id of a record; the path of a turn (`formatStreamPath`); or `<kind> <subject>` of a delivery. */
  readonly member: string;
}

/** A part of a list. */
export interface ListSliceRequest {
  readonly tenant: string;
  readonly kind: ListedKind;
  readonly state: ListedState;
  readonly order: ListOrder;
  /** Only places after this one. */
  readonly after?: ListPlace;
  /** Limits the list to a person. Open records are exactly theirs; of other things, all in the person's bucket are returned. */
  readonly userId?: string;
  /** Only entries of this bucket. */
  readonly bucket?: number;
  /** Only what began (open) or ended at least `minAgeMs` and at most `maxAgeMs` ago. */
  readonly minAgeMs?: number;
  readonly maxAgeMs?: number;
  readonly limit: number;
}

/** A part of a list, by age. */
export type ListRange = Pick<ListSliceRequest, 'state' | 'minAgeMs' | 'maxAgeMs'>;

/**
 * The lists of a tenant, over all its users. Commits update them in the same atomic step as the record, so a list is as
 * reliable as its records. Ended things are listed for the retention or a little longer, so the rows decide. The cost of a call
 * does not depend on other tenants. Every method throws `unavailable`.
 */
export interface TenantLists {
  /** The first places of a list: fewer than `limit` only at the end of the list. */
  slice(request: ListSliceRequest): Promise<readonly ListPlace[]>;
  /**
   * The number of places in each range. It counts list entries without reading rows, including entries that `mend` would
   * remove.
   */
  count(tenant: string, kind: ListedKind, ranges: readonly ListRange[]): Promise<readonly number[]>;
  /**
   * Corrects the place of one record or turn, which may be wrong after a loss of data or a write by an earlier version. For
   * deliveries, use `Outbox.unlist`.
   */
  mend(tenant: string, kind: ListedKind, member: string): Promise<void>;
}
