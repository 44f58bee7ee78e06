/** Handles buttons and modals of approvals. Recording decisions is in `decisions.ts`, drawing in `mapping/approval.ts`. */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { App } from '@slack/bolt';
import { errorsOf, type FormState } from '../mapping/answer.ts';
import { approvalMessage, approvalOverText, denyModal, editModal } from '../mapping/approval.ts';
import { editableArguments, editOf } from '../mapping/edit.ts';
import { overModal } from '../mapping/modal.ts';
import { ACTION, DENY_VIEW, EDIT_VIEW, FIELD_ACTION, fieldBlockId, idsIn } from '../mapping/names.ts';
import { refusedFormMessage } from '../mapping/question.ts';
import { escaped } from '../mapping/text.ts';
import type { ActorContext } from './actor.ts';
import { APPROVALS, decide, decideAll, findApprovals, NOT_YOURS } from './decisions.ts';
import type { ListenerDeps } from './deps.ts';
import { openModal, type Pressed, personIn, privately, type SlackUserInBody } from './pressed.ts';

/** Handles submitted modals of approvals. */
export function listenToDecisions(app: App, deps: ListenerDeps): void {
  app.view(EDIT_VIEW, async ({ ack, view, body, context }) => {
    const seen = await findSubmitted(deps, context, body.user, view.private_metadata);
    const [row] = seen?.rows ?? [];
    if (seen === undefined || row === undefined) return ack(overReply(NOT_YOURS));
    const edit = editOf(row.definition, view.state.values as FormState);
    if ('errors' in edit) return ack({ response_action: 'errors', errors: edit.errors });
    const fault = await decide(deps, seen.owner, row.id, { decision: 'edit', arguments: edit.arguments });
    if (fault === undefined) return ack();
    if (fault.code === 'invalid_answer')
      return ack({ response_action: 'errors', errors: faultsAtInputs(row, fault.issues ?? []) });
    return ack(
      overReply(
        await APPROVALS.refusalText(
          deps,
          { owner: seen.owner, id: row.id, user: seen.slackUser },
          fault.message,
        ),
      ),
    );
  });

  app.view(DENY_VIEW, async ({ ack, view, body, context }) => {
    const seen = await findSubmitted(deps, context, body.user, view.private_metadata);
    if (seen === undefined) return ack(overReply(NOT_YOURS));
    const values = view.state.values as FormState;
    const reason = values[fieldBlockId(0)]?.[FIELD_ACTION]?.value?.trim() ?? '';
    const response = { decision: 'deny', ...(reason !== '' && { reason }) } as const;
    const { owner, rows, slackUser } = seen;
    const [row, ...others] = rows;
    if (row === undefined || others.length > 0) {
      const refusal = await decideAll(deps, owner, rows, response);
      return refusal === undefined ? ack() : ack(overReply(escaped(refusal)));
    }
    const fault = await decide(deps, owner, row.id, response);
    if (fault === undefined) return ack();
    return ack(
      overReply(await APPROVALS.refusalText(deps, { owner, id: row.id, user: slackUser }, fault.message)),
    );
  });
}

/** The approvals in a modal, if all belong to the person who submits it. */
async function findSubmitted(
  deps: ListenerDeps,
  context: ActorContext,
  by: SlackUserInBody,
  metadata: string,
) {
  const person = await personIn(deps, context, by);
  const rows = person && (await findApprovals(deps, person.owner, idsIn(metadata)));
  return rows && { ...person, rows };
}

/** The content of a modal that can no longer be submitted. `text` is mrkdwn. */
function overReply(text: string) {
  return { response_action: 'update', view: overModal('Approval', text) } as const;
}

/** Handles a button of an approval. */
export async function pressApproval(deps: ListenerDeps, pressed: Pressed, id: string): Promise<void> {
  const { owner, slackUser: user, respond, action } = pressed;
  const row = await APPROVALS.find(deps, owner, id);
  if (row === undefined) return privately(respond, NOT_YOURS);
  if (isApprovalEnded(row.status)) return privately(respond, approvalOverText(row, { user }));
  switch (action.action_id) {
    case ACTION.call:
      return privately(respond, approvalMessage(row, { user, isPrivate: true }));
    case ACTION.edit: {
      const modal = editModal(row);
      return modal && openModal(deps, pressed, modal, refusedFormMessage());
    }
    case ACTION.deny:
      return openModal(deps, pressed, denyModal([row]), refusedFormMessage());
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
    return privately(
      respond,
      await APPROVALS.refusalText(deps, { owner, id, user: slackUser }, fault.message),
    );
  // The message in the channel shows the end of the approval, so the private message is removed.
  if (body.container.is_ephemeral === true) await respond({ delete_original: true });
}

/** Faults name arguments as `arguments.<name>`. */
function faultsAtInputs({ definition }: ApprovalRow, issues: Parameters<typeof errorsOf>[1]) {
  const names = editableArguments(definition).map(({ name }) => name);
  return errorsOf(
    names,
    issues.map(({ path, message }) => ({ path: path.replace(/^arguments\.?/, ''), message })),
  );
}
