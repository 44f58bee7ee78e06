import type { ResponseInput } from '@parley/shared/domain/elicitations/response-input';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import type { App, BlockAction, ButtonAction, RespondFn } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { chosenContent, contentOf, errorsOf, type FormState } from '../mapping/answer.ts';
import { plain } from '../mapping/fields.ts';
import { formModal, overModal } from '../mapping/modal.ts';
import { ACTION, FORM_VIEW } from '../mapping/names.ts';
import { addressMessage, addressOf, overText } from '../mapping/question.ts';
import type { SlackUser } from '../store/workspace.ts';
import { actorOf } from './actor.ts';
import { callerOf, type ListenerDeps } from './deps.ts';

const NOT_YOURS = 'Only the person who was asked can answer this question.';
const TOO_LATE_TO_OPEN = 'Slack did not open the form in time.';
const EXPIRED_TRIGGERS = new Set(['expired_trigger_id', 'trigger_expired', 'exchanged_trigger_id']);
const CHOICE = new RegExp(`^${ACTION.choice}(\\d+)$`);

/** A button that a person has used. */
interface Pressed {
  readonly body: BlockAction;
  readonly action: ButtonAction;
  readonly client: WebClient;
  readonly respond: RespondFn;
  readonly owner: Owner;
  readonly slackUser: string;
}

/** Buttons of questions and replies, and submitted forms. */
export function listenToQuestions(app: App, deps: ListenerDeps): void {
  app.action<BlockAction>(/^parley_/, async ({ ack, action, body, context, client, respond }) => {
    const { action_id: name } = action;
    // A link without a value is not of a question.
    if (action.type !== 'button' || (name === ACTION.link && action.value === undefined)) return ack();
    // A trigger lives for three seconds: the modal must not wait for the acknowledgement.
    if (name === ACTION.open || name === ACTION.show) await ack();
    const actor = actorIn(context, body.user);
    const owner = actor && (await deps.links.find(actor));
    if (name === ACTION.link) await useLink(deps, owner, action.value ?? '');
    else if (actor === undefined || owner === undefined) await privately(respond, NOT_YOURS);
    else await press(deps, { body, action, client, respond, owner, slackUser: actor.userId });
    // Only now: what was answered is recorded.
    if (name !== ACTION.open && name !== ACTION.show) await ack();
  });

  app.view(FORM_VIEW, async ({ ack, view, body, context }) => {
    const actor = actorIn(context, body.user);
    const owner = actor && (await deps.links.find(actor));
    const id = view.private_metadata;
    const row = owner && (await findOwn(deps, owner, id));
    if (owner === undefined || row === undefined || actor === undefined)
      return ack({ response_action: 'update', view: overModal(NOT_YOURS) });
    const schema = row.definition.requestedSchema ?? { type: 'object', properties: {} };
    const content = contentOf(schema, view.state.values as FormState);
    const fault = await answer(deps, owner, id, { action: 'accept', content });
    if (fault === undefined) return ack();
    if (fault.code === 'invalid_answer')
      return ack({ response_action: 'errors', errors: errorsOf(schema, fault.issues ?? []) });
    const text = await refusalText(deps, owner, id, actor.userId, fault.message);
    return ack({ response_action: 'update', view: overModal(text) });
  });
}

/**
 * The person who acts on a message or a form. Whether another company may be in the channel is not known here. Only those
 * are answered who were linked, and a link is given out by a message alone, where it is known.
 */
function actorIn(
  context: Parameters<typeof actorOf>[0],
  { id, team_id: team }: { readonly id: string; readonly team_id?: string },
): SlackUser | undefined {
  return actorOf(context, id, team, true);
}

/** A person who opens the address of their question has accepted it. Slack itself opens the page, for anybody. */
async function useLink(deps: ListenerDeps, owner: Owner | undefined, id: string): Promise<void> {
  const row = owner && (await findOwn(deps, owner, id));
  if (owner !== undefined && row?.definition.mode === 'url' && !isTerminal(row.status))
    await answer(deps, owner, id, { action: 'accept' });
}

async function press(deps: ListenerDeps, pressed: Pressed): Promise<void> {
  const { action, owner, respond } = pressed;
  const value = action.value ?? '';
  if (action.action_id === ACTION.stop) return stop(deps, pressed, value);
  const row = await findOwn(deps, owner, value);
  if (row === undefined) return privately(respond, NOT_YOURS);
  if (isTerminal(row.status)) return privately(respond, overText(row, { user: pressed.slackUser }));
  switch (action.action_id) {
    case ACTION.decline:
      return settle(deps, pressed, row, { action: 'decline' });
    case ACTION.open:
      return openForm(pressed, row);
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

async function openForm({ body, client, respond }: Pressed, row: Row): Promise<void> {
  try {
    await client.views.open({ trigger_id: body.trigger_id, view: formModal(row) });
  } catch (error) {
    const { code, data } = error as { readonly code?: string; readonly data?: { readonly error?: string } };
    if (code === undefined || (data?.error !== undefined && !EXPIRED_TRIGGERS.has(data.error))) throw error;
    await respond({
      response_type: 'ephemeral',
      replace_original: false,
      text: TOO_LATE_TO_OPEN,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: TOO_LATE_TO_OPEN } },
        {
          type: 'actions',
          elements: [{ type: 'button', action_id: ACTION.open, text: plain('Open it again'), value: row.id }],
        },
      ],
    });
  }
}

/** Shows the address to the person asked. They open the page from there. */
async function showAddress(deps: ListenerDeps, { respond, owner }: Pressed, row: Row): Promise<void> {
  if (addressOf(row.definition) === undefined) return;
  await answer(deps, owner, row.id, { action: 'accept' });
  await respond({ response_type: 'ephemeral', replace_original: false, ...addressMessage(row) });
}

async function settle(
  deps: ListenerDeps,
  { owner, respond, slackUser }: Pressed,
  { id }: Row,
  response: ResponseInput,
): Promise<void> {
  const fault = await answer(deps, owner, id, response);
  if (fault !== undefined)
    await privately(respond, await refusalText(deps, owner, id, slackUser, fault.message));
}

/** Records an answer; returns why it was refused. Throws `unavailable`: Slack then shows that the button failed. */
async function answer(deps: ListenerDeps, owner: Owner, id: string, response: ResponseInput) {
  const caller = callerOf(owner);
  const admitted = deps.limits.call(caller, true, id);
  try {
    await deps.engine.answer({ caller, id, response, surface: 'slack', admitted });
    deps.nudge();
    return undefined;
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
    return error;
  }
}

async function stop(deps: ListenerDeps, { owner, respond }: Pressed, streamRequestId: string): Promise<void> {
  const place = await deps.places.turn({ ...owner, streamRequestId });
  if (place?.conversationId === undefined)
    return privately(respond, 'Only the person who asked can stop this.');
  await deps.turns.stop({ ...owner, conversationId: place.conversationId });
  deps.nudge();
}

/** The question, if it is this person's. Nobody learns of others. */
async function findOwn({ engine }: ListenerDeps, owner: Owner, id: string): Promise<Row | undefined> {
  try {
    return (await engine.read(callerOf(owner), id)).row;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return undefined;
    throw error;
  }
}

async function refusalText(
  deps: ListenerDeps,
  owner: Owner,
  id: string,
  user: string,
  message: string,
): Promise<string> {
  const row = await findOwn(deps, owner, id);
  return row !== undefined && isTerminal(row.status) ? overText(row, { user }) : message;
}

async function privately(respond: RespondFn, text: string): Promise<void> {
  await respond({ response_type: 'ephemeral', replace_original: false, text });
}
