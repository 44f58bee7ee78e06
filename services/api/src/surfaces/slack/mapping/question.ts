/** Draws questions as Slack messages. Pure; modals are in `modal.ts`, handling clicks is in `listeners/questions.ts`. */

import { riskNote } from '@parley/core/domain/approvals/risk';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import { controlsOf } from '@parley/core/domain/forms/controls';
import { readable } from '@parley/core/domain/readable';
import type { Definition, Row } from '@parley/shared/domain/elicitations/row';
import type { ActionsBlock, Button, KnownBlock } from '@slack/types';
import { BUTTON_MAX, button, context, header, mrkdwn, section, textMessage } from './blocks.ts';
import { areShowable, choicesIn } from './fields.ts';
import { ACTION } from './names.ts';
import { endedBlock, openText, otherStateText, settledBy } from './state.ts';
import { clipped, escaped, fitsMessage, messagePieces, nameText } from './text.ts';

/** A message: its blocks, and the text for notifications and screen readers. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: KnownBlock[];
}

/** The place where a question is shown, and its reader. */
export interface ShownTo {
  /** The Slack user of the person asked. */
  readonly user: string;
  /** True in direct messages, which nobody else sees: an address may be shown there. */
  readonly isPrivate: boolean;
  /** The page on which the owner can answer; absent if the deployment has none. */
  readonly answerPage?: string;
}

/** How the person acts on a form. */
type FormWay = 'buttons' | 'modal' | 'page';

const CHOICES_MAX = 5;
const NOTIFICATION_MAX = 300;
const FIELDS_MAX = 90;

/** How a form is answered: with buttons for one choice or yes/no, in a modal, or on its page if Slack has no suitable input. */
export function formWayOf(definition: Definition): FormWay {
  const { requestedSchema, sensitive } = definition;
  const controls = controlsOf(requestedSchema);
  // Text that is typed into a channel stays in Slack.
  if (sensitive === true || controls.length > FIELDS_MAX || !areShowable(controls)) return 'page';
  // A modal can show more text than a message.
  const hasButtons = buttonChoices(requestedSchema) !== undefined && fitsMessage(...textsOf(definition));
  return hasButtons ? 'buttons' : 'modal';
}

/** The texts that the person reads before answering, without hidden characters. */
export function textsOf({ message, description }: Definition): string[] {
  return (description === undefined ? [message] : [message, description]).map(readable);
}

/** A question as a message, in every status. */
export function questionMessage(row: Row, place: ShownTo): SlackMessage {
  const { definition } = row;
  const title = definition.title || (definition.mode === 'url' ? 'Something to do' : 'Question');
  const asker = askerOf(definition);
  const blocks: KnownBlock[] = [
    header(title),
    ...(asker === undefined ? [] : [context(`*${nameText(asker)}* asks${riskNote(definition.risk)}:`)]),
    ...messagePieces(...textsOf(definition)).map(section),
  ];
  return {
    text: `${stateText(row, place)}: ${escaped(clipped(readable(definition.message), NOTIFICATION_MAX))}`,
    blocks: [...blocks, ...stateBlocks(row, place)],
  };
}

/** The message with a question's address, which only the person asked may see. It is posted to them alone. */
export function addressMessage({ id, definition }: Row): SlackMessage {
  const url = addressOf(definition) ?? '';
  return {
    text: `Open ${new URL(url).host} to continue.`,
    blocks: [
      mrkdwn(`Continue at *${escaped(new URL(url).host)}*. Only you can see this link.`),
      { type: 'actions', elements: [linkButton(id, url)] },
    ],
  };
}

/** The message for a person whose form Slack refused. It names the question's page, if there is one. */
export function refusedFormMessage(row?: Pick<Row, 'id'>, answerPage?: string): SlackMessage {
  if (row === undefined || answerPage === undefined)
    return textMessage('Slack did not take this form. Please answer in the chat or in another application.');
  const text = 'Slack did not take this form. Please answer on its page.';
  return { text, blocks: [mrkdwn(text), { type: 'actions', elements: [linkButton(row.id, answerPage)] }] };
}

/** The address of a url question, or the page of a form that the client cannot show. */
export function addressOf({ url, answerUrl }: Definition): string | undefined {
  return url ?? answerUrl;
}

/** The state of the question in a few words. */
function stateText(row: Row, { user }: Pick<ShownTo, 'user'>): string {
  const { status, settlement } = row;
  const by = settledBy(user, settlement);
  switch (status) {
    case 'pending':
      return 'Waiting for an answer';
    case 'opened':
      return 'Opened, not finished yet';
    case 'accepted':
      return `${row.definition.mode === 'url' ? 'Done' : 'Answered'} ${by}`;
    case 'declined':
      return `Declined ${by}`;
    case 'cancelled':
      return `Dismissed ${by}`;
    case 'expired':
      return 'Expired';
    default:
      return otherStateText(status, settlement);
  }
}

/** The text for a person who acts on a question that has ended. */
export function overText(row: Row, place: Pick<ShownTo, 'user'>): string {
  return `This question is over. ${stateText(row, place)}.`;
}

function stateBlocks(row: Row, place: ShownTo): KnownBlock[] {
  const { status, expiresAt } = row;
  if (status !== 'pending' && status !== 'opened') return [endedBlock(status, stateText(row, place))];
  const until = openText(place.user, expiresAt);
  const state = status === 'opened' ? `*${stateText(row, place)}.* ${until}` : until;
  return [{ type: 'actions', elements: buttonsOf(row, place) } satisfies ActionsBlock, context(state)];
}

function buttonsOf({ id, definition }: Row, place: ShownTo): Button[] {
  return [...answerButtons(id, definition, place), button(ACTION.decline, 'Decline', id)];
}

function answerButtons(id: string, definition: Definition, place: ShownTo): Button[] {
  const address = addressOf(definition);
  if (address !== undefined)
    return [
      place.isPrivate ? linkButton(id, address) : button(ACTION.show, 'Show me the link', id, 'primary'),
    ];
  switch (formWayOf(definition)) {
    case 'buttons':
      return (buttonChoices(definition.requestedSchema) ?? []).map((title, index) =>
        button(`${ACTION.choice}${index}`, title, id),
      );
    case 'modal':
      return [button(ACTION.open, 'Answer', id, 'primary')];
    case 'page':
      return place.answerPage === undefined ? [] : [linkButton(id, place.answerPage)];
  }
}

/** The labels of the buttons for a form with one choice; undefined for any other form. */
function buttonChoices(schema: unknown): readonly string[] | undefined {
  const [control, ...others] = controlsOf(schema);
  if (control === undefined || others.length > 0 || control.kind === 'multi') return undefined;
  const labels = choicesIn(control).map(({ label }) => label);
  if (labels.length === 0 || labels.length > CHOICES_MAX) return undefined;
  return labels.every((label) => label.length <= BUTTON_MAX) ? labels : undefined;
}

function linkButton(id: string, url: string): Button {
  const text = clipped(`Open ${new URL(url).host}`, BUTTON_MAX);
  return { ...button(ACTION.link, text, id, 'primary'), url };
}
