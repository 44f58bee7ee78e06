import type { Row } from '@parley/shared/domain/elicitations/row';
import { button, mrkdwn, section } from './blocks.ts';
import { ACTION } from './names.ts';
import type { ShownTo, SlackMessage } from './question.ts';
import { clipped, escaped, lineText } from './text.ts';

const TITLE_MAX = 150;

/** Reminds a person of their open question, in its thread. */
export function reminderMessage({ user }: Pick<ShownTo, 'user'>): SlackMessage {
  return textMessage(`<@${user}>, this question is still open.`);
}

/** Informs somebody else that a person has not answered. Only the person asked may read the question itself. */
export function escalationMessage({ definition }: Row, { user }: Pick<ShownTo, 'user'>): SlackMessage {
  const title = escaped(lineText(definition.title || 'Question of an agent', TITLE_MAX));
  return textMessage(`<@${user}> has not answered a question yet: “${title}”`);
}

/** Asks a person who is not linked yet to connect their account. */
export function connectMessage(url: string): SlackMessage {
  const text = 'Connect your account to talk to me.';
  const link = button(ACTION.link, clipped(`Connect at ${new URL(url).host}`, 75), undefined, 'primary');
  return { text, blocks: [section(text), { type: 'actions', elements: [{ ...link, url }] }] };
}

/** What a modal becomes whose trigger ran out: the same button once more. */
export function openAgainMessage(action: string, value: string): SlackMessage {
  const text = 'Slack did not open the form in time.';
  return {
    text,
    blocks: [section(text), { type: 'actions', elements: [button(action, 'Open it again', value)] }],
  };
}

function textMessage(text: string): SlackMessage {
  return { text, blocks: [mrkdwn(text)] };
}
