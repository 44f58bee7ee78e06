import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Button, KnownBlock } from '@slack/types';
import { callBlocks, isShownInFull, toolText } from './approval.ts';
import { button, context, header, section } from './blocks.ts';
import { ACTION, idsValue } from './names.ts';
import type { ShownTo, SlackMessage } from './question.ts';
import { openText } from './state.ts';
import { BLOCKS_MAX, messagePieces, nameText } from './text.ts';

/** The maximum number of ids in the value of a button. */
const CALLS_MAX = 50;
/** The maximum number of blocks for the calls in a message. The rest is for its title, buttons and state. */
const CALL_BLOCKS_MAX = 40;
const CALLS_JSON_MAX = BLOCKS_MAX - 4_000;

/** True if the open calls of a step can be decided together in Slack. */
export function isDecidedTogether(open: readonly ApprovalRow[]): boolean {
  return open.length > 1 && open.length <= CALLS_MAX;
}

/**
 * A message for deciding on the open calls of one step together. Each call also has its own message, which shows the arguments
 * as far as the place allows. The buttons act only on the calls in this message, not on later ones.
 */
export function stepMessage(open: readonly ApprovalRow[], place: ShownTo): SlackMessage {
  if (!isDecidedTogether(open)) return overMessage(open.length);
  const list = open.map((row, index) => `${index + 1}. ${toolText(row)}`).join('\n');
  const isShown = open.every(({ definition }) => isShownInFull(definition.arguments));
  const ids = idsValue(open);
  const buttons = place.isPrivate
    ? decisionButtons(ids, isShown)
    : [button(ACTION.calls, 'Show me the calls', ids, 'primary')];
  const where = place.isPrivate
    ? 'The arguments of each are in its own message.'
    : 'Each has a message of its own.';
  return messageOf(open, place, [...messagePieces(`${list}\n${where}`).map(section)], buttons);
}

/** The same with the arguments of all calls, only for the person asked. */
export function stepCallsMessage(open: readonly ApprovalRow[], user: string): SlackMessage {
  if (!isDecidedTogether(open)) return overMessage(open.length);
  const calls = open.flatMap((row, index) => [section(`${index + 1}. ${toolText(row)}`), ...callBlocks(row)]);
  const isShown =
    open.every(({ definition }) => isShownInFull(definition.arguments)) &&
    calls.length <= CALL_BLOCKS_MAX &&
    JSON.stringify(calls).length <= CALLS_JSON_MAX;
  const shown = isShown ? calls : [section('The calls are too long for one message. Show each by itself.')];
  return messageOf(open, { user, isPrivate: true }, shown, decisionButtons(idsValue(open), isShown));
}

function messageOf(
  open: readonly ApprovalRow[],
  { user }: ShownTo,
  shown: readonly KnownBlock[],
  elements: Button[],
): SlackMessage {
  const [first] = open;
  const title = `${open.length} calls of one step`;
  const asker =
    first === undefined ? [] : [context(`*${nameText(first.definition.agent)}* wants to make them.`)];
  const until = Math.min(...open.map(({ expiresAt }) => expiresAt));
  return {
    text: `Waiting for an approval: ${title}`,
    blocks: [
      header(title),
      ...asker,
      ...shown,
      { type: 'actions', elements },
      context(openText(user, until)),
    ],
  };
}

/** If the person cannot read a call's arguments in Slack, it cannot be approved there. */
function decisionButtons(ids: string, canApprove: boolean): Button[] {
  return [
    ...(canApprove ? [button(ACTION.approveAll, 'Approve all', ids, 'primary')] : []),
    button(ACTION.denyAll, 'Deny all', ids, 'danger'),
  ];
}

function overMessage(openCount: number): SlackMessage {
  const text =
    openCount === 0
      ? 'No call of this step is open any more.'
      : 'The open calls of this step are decided on one by one, in their own messages.';
  return { text, blocks: [context(text)] };
}
