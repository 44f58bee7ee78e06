import { titleOfTool } from '@parley/core/domain/approvals/tool-title';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { isApprovalId } from '@parley/core/domain/ids';
import { storedRecordOf } from '@parley/shared/ports/elicitations/elicitations';
import { button, section, textMessage } from './blocks.ts';
import { ACTION } from './names.ts';
import type { ShownTo, SlackMessage } from './question.ts';
import { clipped, escaped, lineText, nameText } from './text.ts';

const TITLE_MAX = 150;

/** Reminds a person, in its thread, of their open question or approval. */
export function reminderMessage({ id }: RowOf<FamilyTypes>, { user }: Pick<ShownTo, 'user'>): SlackMessage {
  const what = isApprovalId(id) ? 'this call still waits for your approval' : 'this question is still open';
  return textMessage(`<@${user}>, ${what}.`);
}

/** Informs somebody else that a person has not acted. Only the person asked may read the question or the call. */
export function escalationMessage(row: RowOf<FamilyTypes>, { user }: Pick<ShownTo, 'user'>): SlackMessage {
  const record = storedRecordOf(row);
  if (record.family === 'approval') {
    const { tool, agent } = record.row.definition;
    return textMessage(
      `<@${user}> has not decided on a call of *${nameText(agent)}* yet: “${titleText(titleOfTool(tool))}”`,
    );
  }
  const { definition } = record.row;
  const title = titleText(definition.title || 'Question');
  const of = ` of *${nameText(askerOf(definition) ?? 'an agent')}*`;
  return textMessage(`<@${user}> has not answered a question${of} yet: “${title}”`);
}

function titleText(title: string): string {
  return escaped(lineText(title, TITLE_MAX));
}

/** Asks a person without a link to connect their account. */
export function connectMessage(url: string): SlackMessage {
  const text = 'Connect your account to talk to me.';
  const link = button(ACTION.link, clipped(`Connect at ${new URL(url).host}`, 75), undefined, 'primary');
  return { text, blocks: [section(text), { type: 'actions', elements: [{ ...link, url }] }] };
}

/** Replaces a modal whose trigger has expired: a message with the same button. */
export function openAgainMessage(action: string, value: string): SlackMessage {
  const text = 'Slack did not open the form in time.';
  return {
    text,
    blocks: [section(text), { type: 'actions', elements: [button(action, 'Open it again', value)] }],
  };
}
