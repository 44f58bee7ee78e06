/** The kinds of things whose changes a tenant can watch. */
export const CHANGED_KINDS = ['elicitation', 'approval', 'turn', 'delivery'] as const;
export type ChangedKind = (typeof CHANGED_KINDS)[number];

/** The kinds of changes. After `changed`, the thing has not ended. */
export const CHANGE_WORDS = ['began', 'changed', 'ended'] as const;
export type ChangeWord = (typeof CHANGE_WORDS)[number];

/**
 * A change of one record, turn or delivery, without content. A commit announces its record only, not the deliveries that it
 * notes.
 */
export interface TenantChange {
  readonly kind: ChangedKind;
  readonly tenant: string;
  /** Absent when a delivery does not name its person. */
  readonly userId?: string;
  /** The id of the record, or the stream request of the turn; for a delivery, the id of its subject. */
  readonly id: string;
  readonly change: ChangeWord;
  /** When the change was written, in ms on the store's clock. */
  readonly at: number;
}

/** A change, or `reload`: earlier changes may have been missed, and later ones will follow. */
export type TenantSignal =
  | { readonly type: 'change'; readonly change: TenantChange }
  | { readonly type: 'reload' };

/** The changes in a tenant, for its watchers. A tenant without watchers causes no work. */
export interface TenantChanges {
  /**
   * Calls the listener with `reload` once watching has begun, then with each change on any pod, and with `reload` again
   * whenever changes may have been missed. All listeners of a process share one reader. Returns the function that stops
   * watching.
   */
  watch(tenant: string, listener: (signal: TenantSignal) => void): () => void;
}
