/** Draws approvals as Slack messages and modals. Pure; handling clicks is in `listeners/approvals.ts`. */

import type { Arguments, RememberFor, ToolHints } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { riskNote } from '@parley/core/domain/approvals/risk';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { titleOfServer, titleOfTool } from '@parley/core/domain/approvals/tool-title';
import { type ToolTrait, traitsOf } from '@parley/core/domain/approvals/tool-trait';
import { readable, readableLine } from '@parley/core/domain/readable';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Button, KnownBlock, ModalView, RichTextBlock } from '@slack/types';
import { argumentsText } from './arguments.ts';
import { button, context, header, mrkdwn, section } from './blocks.ts';
import { editableArguments, editInput } from './edit.ts';
import { plain } from './fields.ts';
import { ACTION, DENY_VIEW, EDIT_VIEW, FIELD_ACTION, fieldBlockId, idsValue } from './names.ts';
import type { ShownTo, SlackMessage } from './question.ts';
import { endedBlock, openText, otherStateText, settledBy } from './state.ts';
import {
  BLOCKS_MAX,
  clipped,
  clippedToSize,
  escaped,
  lineText,
  messagePieces,
  NAME_MAX,
  nameText,
  piecesOf,
} from './text.ts';

const NOTIFICATION_MAX = 300;
/** The maximum length of arguments as JSON in a message. The rest is for names, buttons and state. */
const ARGUMENTS_MAX = BLOCKS_MAX - 4_000;
const REASON_MAX = 2_000;

/**
 * An approval as a message, in every status. In a channel it only names the tool. The arguments are shown only to the person
 * asked, with the buttons below them.
 */
export function approvalMessage(row: ApprovalRow, place: ShownTo): SlackMessage {
  const { definition } = row;
  const { tool, agent, risk } = definition;
  const title = readableLine(titleOfTool(tool));
  const call: KnownBlock[] = [
    header(`Approval: ${title}`),
    mrkdwn(
      `*${nameText(agent)}* wants to call \`${nameText(tool.name)}\` of *${nameText(titleOfServer(tool))}*${riskNote(risk)}. ${traitsText(tool.hints)}`,
    ),
    ...(place.isPrivate ? callBlocks(row) : []),
    ...decisionBlocks(row, place),
  ];
  const state = stateBlock(row, place);
  const left = BLOCKS_MAX - JSON.stringify([...call, state]).length;
  return {
    text: `${approvalStateText(row, place)}: ${escaped(clipped(title, NOTIFICATION_MAX))}`,
    blocks: [...call, ...reasonBlocks(row, place, left), state],
  };
}

/** The text for a person who acts on an approval that has ended. */
export function approvalOverText(row: ApprovalRow, place: Pick<ShownTo, 'user'>): string {
  return `This approval is over. ${approvalStateText(row, place)}.`;
}

/** The modal for editing a call's arguments. Undefined if none can be edited in Slack. */
export function editModal({ id, definition }: ApprovalRow): ModalView | undefined {
  const editable = editableArguments(definition);
  if (editable.length === 0) return undefined;
  const { tool } = definition;
  return {
    type: 'modal',
    callback_id: EDIT_VIEW,
    private_metadata: id,
    title: plain('Edit the call'),
    submit: plain('Approve'),
    close: plain('Cancel'),
    blocks: [
      mrkdwn(`\`${nameText(tool.name)}\` of *${nameText(titleOfServer(tool))}* gets these arguments.`),
      ...editable.map(editInput),
      ...(keepsMore(definition, editable.length)
        ? [context('Arguments that are masked or too long for Slack are sent as they are.')]
        : []),
    ],
  };
}

/** The modal for denying one or more calls, with a reason for the agent. */
export function denyModal(rows: readonly ApprovalRow[]): ModalView {
  const isOne = rows.length === 1;
  return {
    type: 'modal',
    callback_id: DENY_VIEW,
    private_metadata: idsValue(rows),
    title: plain(isOne ? 'Deny the call' : 'Deny all calls'),
    submit: plain('Deny'),
    close: plain('Cancel'),
    blocks: [
      mrkdwn(isOne ? 'This call will not be made.' : `These ${rows.length} calls will not be made.`),
      ...messagePieces(rows.map(toolText).join('\n')).map(section),
      {
        type: 'input',
        block_id: fieldBlockId(0),
        label: plain('Reason'),
        hint: plain('The agent reads it.'),
        optional: true,
        element: {
          type: 'plain_text_input',
          action_id: FIELD_ACTION,
          multiline: true,
          max_length: REASON_MAX,
        },
      },
    ],
  };
}

/** The state of the approval in a few words. */
function approvalStateText(row: ApprovalRow, { user }: Pick<ShownTo, 'user'>): string {
  const { status, settlement, definition } = row;
  const by = settledBy(user, settlement);
  switch (status) {
    case 'pending':
      return 'Waiting for an approval';
    case 'approved':
      return settlement?.remember === true && definition.remember !== undefined
        ? `Approved ${rememberText(definition.remember)} ${by}`
        : `Approved ${by}`;
    case 'edited':
      return `Approved with other arguments ${by}`;
    case 'denied':
      return `Denied ${by}`;
    case 'expired':
      return 'Expired, the call was not made';
    default:
      return otherStateText(status, settlement);
  }
}

/** The arguments; after an edit, those that were sent. */
export function callBlocks({ definition, settlement, status }: ApprovalRow): KnownBlock[] {
  const shown = settlement?.arguments ?? definition.arguments;
  if (!isShownInFull(shown))
    return isApprovalEnded(status) ? [section('The arguments are too long for Slack.')] : [];
  if (Object.keys(shown).length === 0) return [section('It has no arguments.')];
  return piecesOf(argumentsText(shown), 2_900).map(preformatted);
}

function decisionBlocks(row: ApprovalRow, place: ShownTo): KnownBlock[] {
  if (isApprovalEnded(row.status)) return [];
  const { id, definition } = row;
  if (!isShownInFull(definition.arguments))
    return [
      section('The arguments are too long for Slack. Approve the call in the chat or the inbox.'),
      { type: 'actions', elements: [button(ACTION.deny, 'Deny', id)] },
    ];
  return [{ type: 'actions', elements: buttonsOf(id, definition, place) }];
}

function buttonsOf(id: string, definition: ApprovalDefinition, { isPrivate }: ShownTo): Button[] {
  if (!isPrivate) return [button(ACTION.call, 'Show me the call', id, 'primary')];
  const { remember } = definition;
  return [
    button(ACTION.approve, 'Approve', id, 'primary'),
    ...(remember === undefined ? [] : [button(ACTION.remember, `Approve ${rememberText(remember)}`, id)]),
    ...(editableArguments(definition).length === 0 ? [] : [button(ACTION.edit, 'Edit', id)]),
    button(ACTION.deny, 'Deny', id, 'danger'),
  ];
}

function stateBlock(row: ApprovalRow, place: ShownTo): KnownBlock {
  const { status, expiresAt, definition } = row;
  if (isApprovalEnded(status)) return endedBlock(status, approvalStateText(row, place));
  const covers =
    place.isPrivate && definition.remember !== undefined && isShownInFull(definition.arguments)
      ? ` Approved ${rememberText(definition.remember)}, further calls of this tool under the same rule are made without asking.`
      : '';
  return context(openText(place.user, expiresAt) + covers);
}

/** The reason of a denial, up to `left` characters. */
function reasonBlocks({ status, settlement }: ApprovalRow, { isPrivate }: ShownTo, left: number) {
  if (status !== 'denied' || !isPrivate || settlement?.reason === undefined) return [];
  return piecesOf(clippedToSize(`Reason: ${readable(settlement.reason)}`, left), 2_900).map(section);
}

const TRAITS: Readonly<Record<ToolTrait, string>> = {
  reads: 'says that it only reads',
  changes: 'can change or delete things',
  keeps: 'says that it deletes nothing',
  reaches: 'can reach other services',
  unknown: 'does not say what it can do',
};

/** What the hints say about the tool. */
function traitsText(hints: ToolHints | undefined): string {
  const traits = traitsOf(hints).map((trait) => TRAITS[trait]);
  return `It ${traits.join(', and it ')}.`;
}

function rememberText(remember: RememberFor): string {
  if (remember === 'conversation') return 'for this conversation';
  return remember.days === 1 ? 'for a day' : `for ${remember.days} days`;
}

/** True if an edit in Slack leaves some arguments unchanged. */
function keepsMore({ arguments: given }: ApprovalDefinition, editable: number): boolean {
  return Object.keys(given).length > editable;
}

export function isShownInFull(given: Arguments): boolean {
  // The limit applies to JSON, because Slack gets the text as JSON.
  return JSON.stringify(argumentsText(given)).length <= ARGUMENTS_MAX;
}

function preformatted(text: string): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

/** A call on one line of plain text. */
export function toolText({ definition: { tool, risk } }: ApprovalRow): string {
  return `${lineText(tool.name, NAME_MAX)} of ${lineText(titleOfServer(tool), NAME_MAX)}${riskNote(risk)}`;
}
