/** Handles buttons and modals of questions. Approvals are in `approvals.ts`, drawing is in `mapping/question.ts`. */

import { isTerminal } from '@parley/core/domain/elicitations/status';
import { isApprovalId, type Owner } from '@parley/core/domain/ids';
import type { ResponseInput } from '@parley/shared/domain/elicitations/response-input';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { App, BlockAction } from '@slack/bolt';
import { chosenContent, contentOf, errorsOf, type FormState } from '../mapping/answer.ts';
import { formModal, overModal } from '../mapping/modal.ts';
import { ACTION, FORM_VIEW } from '../mapping/names.ts';
import { addressMessage, addressOf, overText, refusedFormMessage } from '../mapping/question.ts';
import { pressApproval } from './approvals.ts';
import type { ListenerDeps } from './deps.ts';
import { createOwnRecords, settleInSlack } from './own-records.ts';
import { openModal, type Pressed, personIn, privately } from './pressed.ts';
import { pressStep, STEP_ACTIONS } from './steps.ts';

/** The questions of the acting person. */
export const QUESTIONS = createOwnRecords<Row>({
  read: ({ engine }, caller, id) => engine.read(caller, id),
  overText: (row, reader) => (isTerminal(row.status) ? overText(row, reader) : undefined),
});

const NOT_YOURS = 'Only the person who was asked can answer this question.';
/** Actions that open a modal. Their trigger expires after three seconds, so they must not wait for the acknowledgement. */
const OPENING: readonly string[] = [
  ACTION.open,
  ACTION.show,
  ACTION.edit,
  ACTION.deny,
  ACTION.call,
  ACTION.calls,
  ACTION.denyAll,
];
const CHOICE = new RegExp(`^${ACTION.choice}(\\d+)$`);

/** Handles buttons of questions, approvals and replies, and submitted forms. */
export function listenToQuestions(app: App, deps: ListenerDeps): void {
  app.action<BlockAction>(/^parley_/, async ({ ack, action, body, context, client, respond }) => {
    const { action_id: name } = action;
    // A link without a value does not belong to a question.
    if (action.type !== 'button' || (name === ACTION.link && action.value === undefined)) return ack();
    if (OPENING.includes(name)) await ack();
    const person = await personIn(deps, context, body.user);
    if (name === ACTION.link) await useLink(deps, person?.owner, action.value ?? '');
    else if (person === undefined) await privately(respond, NOT_YOURS);
    else await press(deps, { body, action, client, respond, ...person });
    // Other actions are acknowledged only now, after the answer is recorded.
    if (!OPENING.includes(name)) await ack();
  });

  app.view(FORM_VIEW, async ({ ack, view, body, context }) => {
    const person = await personIn(deps, context, body.user);
    const id = view.private_metadata;
    const row = person && (await QUESTIONS.find(deps, person.owner, id));
    if (person === undefined || row === undefined)
      return ack({ response_action: 'update', view: overModal('Question', NOT_YOURS) });
    const { owner, slackUser } = person;
    const schema = row.definition.requestedSchema ?? { type: 'object', properties: {} };
    const content = contentOf(schema, view.state.values as FormState);
    const fault = await answer(deps, owner, id, { action: 'accept', content });
    if (fault === undefined) return ack();
    if (fault.code === 'invalid_answer')
      return ack({
        response_action: 'errors',
        errors: errorsOf(Object.keys(schema.properties), fault.issues ?? []),
      });
    const text = await QUESTIONS.refusalText(deps, { owner, id, user: slackUser }, fault.message);
    return ack({ response_action: 'update', view: overModal('Question', text) });
  });
}

/** Opening the address of a question accepts it. Slack itself opens the page, for anybody. */
async function useLink(deps: ListenerDeps, owner: Owner | undefined, id: string): Promise<void> {
  const row = owner && (await QUESTIONS.find(deps, owner, id));
  if (owner !== undefined && row?.definition.mode === 'url' && !isTerminal(row.status))
    await answer(deps, owner, id, { action: 'accept' });
}

async function press(deps: ListenerDeps, pressed: Pressed): Promise<void> {
  const { action, owner, respond } = pressed;
  const value = action.value ?? '';
  if (action.action_id === ACTION.stop) return stop(deps, pressed, value);
  if (STEP_ACTIONS.includes(action.action_id)) return pressStep(deps, pressed, value);
  if (isApprovalId(value)) return pressApproval(deps, pressed, value);
  const row = await QUESTIONS.find(deps, owner, value);
  if (row === undefined) return privately(respond, NOT_YOURS);
  if (isTerminal(row.status)) return privately(respond, overText(row, { user: pressed.slackUser }));
  switch (action.action_id) {
    case ACTION.decline:
      return settle(deps, pressed, row, { action: 'decline' });
    case ACTION.open:
      return openModal(deps, pressed, formModal(row), refusedFormMessage(row, deps.answerPageOf(row.id)));
    case ACTION.show:
      return showAddress(deps, pressed, row);
    default: {
      const index = CHOICE.exec(action.action_id)?.[1];
      const schema = row.definition.requestedSchema;
      const content = schema && chosenContent(schema, Number(index));
      if (content !== undefined) return settle(deps, pressed, row, { action: 'accept', content });
    }
  }
}

/** Shows the address to the person asked, who opens the page from there. */
async function showAddress(deps: ListenerDeps, { respond, owner }: Pressed, row: Row): Promise<void> {
  if (addressOf(row.definition) === undefined) return;
  await answer(deps, owner, row.id, { action: 'accept' });
  await privately(respond, addressMessage(row));
}

async function settle(
  deps: ListenerDeps,
  { owner, respond, slackUser }: Pressed,
  { id }: Row,
  response: ResponseInput,
): Promise<void> {
  const fault = await answer(deps, owner, id, response);
  if (fault !== undefined)
    await privately(
      respond,
      await QUESTIONS.refusalText(deps, { owner, id, user: slackUser }, fault.message),
    );
}

/** Records an answer. Returns why it was refused. Throws `unavailable`; Slack then shows that the button failed. */
export function answer(deps: ListenerDeps, owner: Owner, id: string, response: ResponseInput) {
  return settleInSlack(deps, owner, id, (by) => deps.engine.answer({ ...by, response }));
}

async function stop(deps: ListenerDeps, { owner, respond }: Pressed, streamRequestId: string): Promise<void> {
  const place = await deps.places.turn({ ...owner, streamRequestId });
  if (place?.conversationId === undefined)
    return privately(respond, 'Only the person who asked can stop this.');
  await deps.turns.stop({ ...owner, conversationId: place.conversationId });
  deps.nudge();
}
