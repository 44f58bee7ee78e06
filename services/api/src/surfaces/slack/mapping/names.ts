/**
 * Names in interactive elements. The value of each button is the id of what it acts on: an elicitation, an approval, or for
 * `stop` a stream request.
 */
export const ACTION = {
  /** Followed by the index of the choice. */
  choice: 'parley_choice_',
  open: 'parley_open',
  decline: 'parley_decline',
  /** Shows the address of a url question to the person asked. */
  show: 'parley_show',
  /** A link. Slack reports its use, too. */
  link: 'parley_link',
  stop: 'parley_stop',
  approve: 'parley_approve',
  /** Approves further calls, too. */
  remember: 'parley_remember',
  edit: 'parley_edit',
  deny: 'parley_deny',
  /** Shows the arguments of a call to the person asked. */
  call: 'parley_call',
  /** The same for all calls of a step. The value of these three are the ids of several approvals. */
  calls: 'parley_calls',
  approveAll: 'parley_approve_all',
  denyAll: 'parley_deny_all',
} as const;

/** The ids of several records, as the value of a button or the `private_metadata` of a modal. */
export function idsValue(rows: readonly { readonly id: string }[]): string {
  return rows.map(({ id }) => id).join(' ');
}

/** Reads what `idsValue` made. */
export function idsIn(value: string): string[] {
  return value.split(' ').filter((id) => id !== '');
}

/** `callback_id` of the modal with a form; its `private_metadata` is the elicitation id. */
export const FORM_VIEW = 'parley_form';

/** `callback_id` of the modals of an approval; their `private_metadata` is the approval id, for denials also several ids. */
export const EDIT_VIEW = 'parley_edit_view';
export const DENY_VIEW = 'parley_deny_view';

/** The event type of the metadata by which a message that was posted is found again. */
export const METADATA = 'parley_delivery';

/** Block id of the field with this index. */
export function fieldBlockId(index: number): string {
  return `field_${index}`;
}

/** Action id of every field's element. */
export const FIELD_ACTION = 'value';
