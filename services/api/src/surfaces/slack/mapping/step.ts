import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Button, KnownBlock } from '@slack/types';
import { callBlocks, isShownInFull, toolText } from './approval.ts';
import { button, context, header, section } from './blocks.ts';
import { ACTION, idsValue } from './names.ts';
import type { ShownTo, SlackMessage } from './question.ts';
import { openText } from './state.ts';
import { BLOCKS_MAX, messagePieces, nameText } from './text.ts';

/** The value of a button holds as many ids. */
const CALLS_MAX = 50;
/** The most blocks of the calls in a message. The rest is for its title, buttons and state. */
const CALL_BLOCKS_MAX = 40;
const CALLS_JSON_MAX = BLOCKS_MAX - 4_000;

/** True when the open calls of a step can be decided on together in Slack. */
export function isDecidedTogether(open: readonly ApprovalRow[]): boolean {
  return open.length > 1 && open.length <= CALLS_MAX;
}

/**
 * The open calls of one step, to decide on together. Each call has a message of its own beside it, which shows the arguments
 * as far as the place allows. The buttons act on the calls that this message names, and on no later ones.
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

/** The same with the arguments of all calls, for the person asked alone. */
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

/** A call whose arguments the person cannot read in Slack is not approved there. */
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
