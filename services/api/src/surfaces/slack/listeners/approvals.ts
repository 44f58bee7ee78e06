import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { isApprovalEnded } from '@parley/shared/domain/approvals/status';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { isParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import type { App } from '@slack/bolt';
import { errorsOf, type FormState } from '../mapping/answer.ts';
import { approvalMessage, approvalOverText, denyModal, editModal } from '../mapping/approval.ts';
import { editableArguments, editOf } from '../mapping/edit.ts';
import { overModal } from '../mapping/modal.ts';
import { ACTION, DENY_VIEW, EDIT_VIEW, FIELD_ACTION, fieldBlockId } from '../mapping/names.ts';
import { callerOf, type ListenerDeps } from './deps.ts';
import { createOwnRecords } from './own-records.ts';
import { actorIn, openModal, type Pressed, privately } from './pressed.ts';

const APPROVALS = createOwnRecords<ApprovalRow>({
  read: ({ engine }, caller, id) => engine.approvals.read(caller, id),
  overText: (row, reader) => (isApprovalEnded(row.status) ? approvalOverText(row, reader) : undefined),
});

const NOT_YOURS = 'Only the person who was asked can decide on this call.';

/** A decision that a modal holds, or faults of its inputs. */
type Submitted = { readonly response: ApprovalInput } | { readonly errors: Readonly<Record<string, string>> };

/** Submitted modals of approvals. */
export function listenToDecisions(app: App, deps: ListenerDeps): void {
  const listen = (callback: string, read: (row: ApprovalRow, state: FormState) => Submitted) =>
    app.view(callback, async ({ ack, view, body, context }) => {
      const actor = actorIn(context, body.user);
      const owner = actor && (await deps.links.find(actor));
      const row = owner && (await APPROVALS.find(deps, owner, view.private_metadata));
      if (owner === undefined || row === undefined || actor === undefined)
        return ack({ response_action: 'update', view: overModal('Approval', NOT_YOURS) });
      const submitted = read(row, view.state.values as FormState);
      if ('errors' in submitted) return ack({ response_action: 'errors', errors: submitted.errors });
      const fault = await decide(deps, owner, row.id, submitted.response);
      if (fault === undefined) return ack();
      if (fault.code === 'invalid_answer' && callback === EDIT_VIEW)
        return ack({ response_action: 'errors', errors: faultsAtInputs(row, fault.issues ?? []) });
      const text = await APPROVALS.refusalText(deps, owner, row.id, actor.userId, fault.message);
      return ack({ response_action: 'update', view: overModal('Approval', text) });
    });
  listen(EDIT_VIEW, ({ definition }, state) => {
    const edit = editOf(definition, state);
    return 'errors' in edit ? edit : { response: { decision: 'edit', arguments: edit.arguments } };
  });
  listen(DENY_VIEW, (_row, state) => {
    const reason = state[fieldBlockId(0)]?.[FIELD_ACTION]?.value?.trim() ?? '';
    return { response: { decision: 'deny', ...(reason !== '' && { reason }) } };
  });
}

/** A button of an approval. */
export async function pressApproval(deps: ListenerDeps, pressed: Pressed, id: string): Promise<void> {
  const { owner, slackUser: user, respond, action } = pressed;
  const row = await APPROVALS.find(deps, owner, id);
  if (row === undefined) return privately(respond, NOT_YOURS);
  if (isApprovalEnded(row.status)) return privately(respond, approvalOverText(row, { user }));
  switch (action.action_id) {
    case ACTION.call: {
      const card = approvalMessage(row, { user, isPrivate: true });
      await respond({ response_type: 'ephemeral', replace_original: false, ...card });
      return;
    }
    case ACTION.edit: {
      const modal = editModal(row);
      return modal && openModal(pressed, modal);
    }
    case ACTION.deny:
      return openModal(pressed, denyModal(row));
    case ACTION.approve:
      return approve(deps, pressed, row, {});
    case ACTION.remember:
      return approve(deps, pressed, row, { remember: true });
  }
}

async function approve(
  deps: ListenerDeps,
  { owner, respond, slackUser, body }: Pressed,
  { id }: ApprovalRow,
  more: Pick<ApprovalInput, 'remember'>,
): Promise<void> {
  const fault = await decide(deps, owner, id, { decision: 'approve', ...more });
  if (fault !== undefined)
    return privately(respond, await APPROVALS.refusalText(deps, owner, id, slackUser, fault.message));
  // The message in the channel says how it ended.
  if (body.container.is_ephemeral === true) await respond({ delete_original: true });
}

/** Records a decision; returns why it was refused. Throws `unavailable`: Slack then shows that the button failed. */
async function decide(deps: ListenerDeps, owner: Owner, id: string, response: ApprovalInput) {
  const caller = callerOf(owner);
  const admitted = deps.limits.call(caller, true, id);
  try {
    await deps.engine.approvals.decide({ caller, id, response, surface: 'slack', admitted });
    deps.nudge();
    return undefined;
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
    return error;
  }
}

/** Faults name arguments as `arguments.<name>`. */
function faultsAtInputs({ definition }: ApprovalRow, issues: Parameters<typeof errorsOf>[1]) {
  const names = editableArguments(definition).map(({ name }) => name);
  return errorsOf(
    names,
    issues.map(({ path, message }) => ({ path: path.replace(/^arguments\.?/, ''), message })),
  );
}
