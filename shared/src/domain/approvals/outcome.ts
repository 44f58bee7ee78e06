import type { ApprovalStatus } from '@parley/core/domain/approvals/status';

const MODEL_TEXTS: Readonly<Partial<Record<string, string>>> = {
  denied: 'The user denied this call. Nothing was done. Do not make it again unless they ask for it.',
  expired:
    'Nobody approved this call before its deadline. Nothing was done. This is neither consent nor refusal; say that it timed out.',
  withdrawn: 'The request to approve this call was taken back before anyone decided. Nothing was done.',
};

/** The surface that is recorded when a person wrote a message instead of deciding. That denies the call and ends its turn. */
export const BY_MESSAGE = 'message';

const UNKNOWN_OUTCOME =
  'The approval of this call has ended in a way that this version does not know. Nothing was done.';

/** What the model reads about a call that was not made. */
export function refusalTextOf(status: ApprovalStatus, reason: string | undefined): string {
  const text = MODEL_TEXTS[status] ?? UNKNOWN_OUTCOME;
  return status === 'denied' && reason !== undefined ? `${text} Their reason: ${reason}` : text;
}

/** What the model reads when a call needs an approval and no person can give it. */
export const UNATTENDED_REFUSAL =
  'This call needs the approval of a person, and no person takes part in this turn. Nothing was done. Do not retry; say what would need approval.';

/** What the model reads when the arguments of a call are too large to be displayed in full. */
export function unshownTextOf(fault: string): string {
  return `This call needs the approval of a person, and its arguments ${fault}, so that they cannot be shown in full. Nothing was done.`;
}

/** What the model reads when the arguments of a call are not an object, so that an approval cannot display them. */
export const NOT_SHOWN_REFUSAL =
  'The calls of this tool can need the approval of a person, and the arguments of this call are not an object that could be shown. Nothing was done.';

/** What the model reads before the result of a call whose arguments a person edited. */
export const EDITED_NOTE =
  'The user changed the arguments before they approved this call. This is the result of the call with their arguments.';
