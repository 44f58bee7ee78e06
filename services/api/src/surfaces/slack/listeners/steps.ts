import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { denyModal } from '../mapping/approval.ts';
import { ACTION, idsIn } from '../mapping/names.ts';
import { refusedFormMessage } from '../mapping/question.ts';
import { stepCallsMessage } from '../mapping/step.ts';
import { escaped } from '../mapping/text.ts';
import { decideAll, findApprovals, NOT_YOURS } from './decisions.ts';
import type { ListenerDeps } from './deps.ts';
import { openModal, type Pressed, privately } from './pressed.ts';

/** Buttons that act on all calls of a step. */
export const STEP_ACTIONS: readonly string[] = [ACTION.calls, ACTION.approveAll, ACTION.denyAll];

/** How long the calls in a message must have been visible before all of them can be approved, in seconds. */
const SHOWN_SECONDS_MIN = 1;
/** Slack truncates the time of an edit to whole seconds. */
const EDIT_SECONDS_CUT_MAX = 1;

/** Handles a button for the calls of a step. It acts on the calls in its message that are still open. */
export async function pressStep(deps: ListenerDeps, pressed: Pressed, value: string): Promise<void> {
  const { owner, respond, action, slackUser } = pressed;
  const rows = await findApprovals(deps, owner, idsIn(value));
  if (rows === undefined) return privately(respond, NOT_YOURS);
  const open = rows.filter(({ status }) => !isApprovalEnded(status));
  if (open.length === 0) return privately(respond, 'These approvals are over.');
  switch (action.action_id) {
    case ACTION.calls:
      return privately(respond, stepCallsMessage(open, slackUser));
    case ACTION.denyAll:
      return openModal(deps, pressed, denyModal(open), refusedFormMessage());
    case ACTION.approveAll:
      return approveAll(deps, pressed, open);
  }
}

async function approveAll(deps: ListenerDeps, pressed: Pressed, open: readonly ApprovalRow[]): Promise<void> {
  const { owner, respond, body } = pressed;
  if (hasJustChanged(pressed))
    return privately(respond, 'The calls of this message have just changed. Check them, and press again.');
  const refusal = await decideAll(deps, owner, open, { decision: 'approve' });
  if (refusal !== undefined) return privately(respond, escaped(refusal));
  if (body.container.is_ephemeral === true) await respond({ delete_original: true });
}

/** True if the press may have been meant for the earlier calls. Both times are Slack's. */
function hasJustChanged({ body: { message, container }, action }: Pressed): boolean {
  const edit = message?.edited?.ts;
  const shownAt =
    edit === undefined ? Number(message?.ts ?? container.message_ts) : Number(edit) + EDIT_SECONDS_CUT_MAX;
  return Number(action.action_ts) - shownAt < SHOWN_SECONDS_MIN;
}
