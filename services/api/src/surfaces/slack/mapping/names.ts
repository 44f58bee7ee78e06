/**
 * Names of interactive elements. A button's value is the id of its subject: an elicitation, an approval, or for `stop` a stream
 * request.
 */
export const ACTION = {
  /** Followed by the index of the choice. */
  choice: 'parley_choice_',
  open: 'parley_open',
  decline: 'parley_decline',
  /** Shows the address of a url question to the person asked. */
  show: 'parley_show',
  /** A link. Slack reports clicks on it, too. */
  link: 'parley_link',
  stop: 'parley_stop',
  approve: 'parley_approve',
  /** Also approves further calls. */
  remember: 'parley_remember',
  edit: 'parley_edit',
  deny: 'parley_deny',
  /** Shows the arguments of a call to the person asked. */
  call: 'parley_call',
  /** The same for all calls of a step. The values of these three contain the ids of several approvals. */
  calls: 'parley_calls',
  approveAll: 'parley_approve_all',
  denyAll: 'parley_deny_all',
} as const;

/** The ids of several records, for a button's value or a modal's `private_metadata`. */
export function idsValue(rows: readonly { readonly id: string }[]): string {
  return rows.map(({ id }) => id).join(' ');
}

/** Parses the result of `idsValue`. */
export function idsIn(value: string): string[] {
  return value.split(' ').filter((id) => id !== '');
}

/** `callback_id` of the modal with a form; its `private_metadata` is the elicitation id. */
export const FORM_VIEW = 'parley_form';

/**
 * `callback_id` of the modals of an approval. Their `private_metadata` is the approval id; for denials it may contain several
 * ids.
 */
export const EDIT_VIEW = 'parley_edit_view';
export const DENY_VIEW = 'parley_deny_view';

/** The event type of the metadata with which a posted message is found again. */
export const METADATA = 'parley_delivery';

/** Block id of the field with this index. */
export function fieldBlockId(index: number): string {
  return `field_${index}`;
}

/** Action id of every field's element. */
export const FIELD_ACTION = 'value';
