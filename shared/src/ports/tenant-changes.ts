/** What a change of a tenant is about. */
export const CHANGED_KINDS = ['elicitation', 'approval', 'turn', 'delivery'] as const;
export type ChangedKind = (typeof CHANGED_KINDS)[number];

/** How it changed. `changed`: it has not ended. */
export const CHANGE_WORDS = ['began', 'changed', 'ended'] as const;
export type ChangeWord = (typeof CHANGE_WORDS)[number];

/** A change of one record, turn or delivery: names and words only. What a commit notes for delivery is told as its record alone. */
export interface TenantChange {
  readonly kind: ChangedKind;
  readonly tenant: string;
  /** Absent where a delivery does not tell whose it is. */
  readonly userId?: string;
  /** The record, or the stream request of the turn; of a delivery, the one that it is about. */
  readonly id: string;
  readonly change: ChangeWord;
  /** When it was written, in ms on the clock of the store. */
  readonly at: number;
}

/** A change, or `reload`: changes may have been missed, and those from now on are told. */
export type TenantSignal =
  | { readonly type: 'change'; readonly change: TenantChange }
  | { readonly type: 'reload' };

/** What changes in a tenant, for those who watch it. A tenant that nobody watches costs nothing. */
export interface TenantChanges {
  /**
   * Calls the listener with `reload` once changes are told, then with each change on any pod, and again with `reload` wherever some may
   * have been missed. All listeners of a process share what it reads. Returns the function that ends it.
   */
  watch(tenant: string, listener: (signal: TenantSignal) => void): () => void;
}
