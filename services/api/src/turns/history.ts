/** Reads a conversation as its person sees it. A reply that is still being written is read from its stream. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { messageIdOf } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { notFound } from '@parley/shared/domain/caller';
import { uniqueCallId } from '@parley/shared/domain/runs/call-ids';
import { contentParts, isAddress, isLeftOut, leftOutText } from '@parley/shared/domain/runs/content';
import type { ConversationRef, Message, RememberedMessage, Run } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { AGENT_CALL, type ToolPart, type ToolPartEnd, toolPartOf } from './approvals/tool-part.ts';
import type { UiMessagePart } from './message-parts.ts';
import { textOf } from './messages.ts';
import { jsonLine } from './plain.ts';
import { shownPage } from './shown.ts';

interface HistoryDeps {
  readonly engine: Pick<Engine, 'approvals'>;
  readonly conversations: Pick<Conversations, 'read'>;
  readonly runs: Pick<Runs, 'read'>;
}

/** A message of a conversation as the AI SDK keeps it (`UIMessage`). */
export interface HistoryMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UiMessagePart[];
  /** Present for an unfinished reply, because its turn was stopped or failed. */
  readonly metadata?: { readonly isCut: true };
}

export interface ConversationHistory {
  /** The messages, oldest first. While a reply is being written, the last message is the person's. */
  readonly messages: readonly HistoryMessage[];
  /** True while a turn runs or waits. Its reply is read from its stream. */
  readonly isRunning: boolean;
}

// How many of the newest calls are shown with their approvals.
const APPROVALS_MAX = 200;
// If a turn ends between the two reads of an attempt, a second attempt is made.
const ATTEMPTS = 2;

/** Reads a conversation for its person. Throws `not_found` if nothing was ever said, and `unavailable`. */
export async function readHistory(
  deps: HistoryDeps,
  conversation: ConversationRef,
): Promise<ConversationHistory> {
  const { tenant, userId } = conversation;
  for (let attempt = 1; ; attempt += 1) {
    const { running, last, messages } = await deps.conversations.read(conversation);
    if (running === undefined && last === undefined) throw notFound();
    const run = running && (await deps.runs.read({ tenant, userId, streamRequestId: running })).run;
    const input = run && run.status === 'running' ? run.input : undefined;
    if (running !== undefined && input === undefined && attempt < ATTEMPTS) continue;
    const shown = append([], messages);
    append(
      shown,
      (input ?? []).map((message) => ({ ...message, turn: running })),
    );
    if (shown.some(({ parts }) => parts.some(isCall)))
      addApprovals(shown, await approvalsOf(deps, conversation, running));
    return { messages: JSON.parse(jsonLine(withIds(shown))), isRunning: input !== undefined };
  }
}

/**
 * The assistant's messages in a turn. The record contains only complete steps. The text of a stopped or failed step is in the
 * conversation, as long as that still contains the message which the turn answers.
 */
export async function readSaid(
  { conversations }: Pick<HistoryDeps, 'conversations'>,
  run: Run,
): Promise<readonly Message[]> {
  const recorded = run.steps.flatMap(({ messages }) => messages);
  const isCut = run.status === 'stopped' || run.status === 'failed';
  const kept = isCut ? await keptOf(conversations, run) : [];
  const answered = kept.findLastIndex(({ role }) => role === 'user');
  const said = answered < 0 ? recorded : kept.slice(answered + 1);
  return said.filter(({ role }) => role === 'assistant');
}

/** The messages of one turn that its conversation still has. */
async function keptOf(conversations: HistoryDeps['conversations'], run: Run): Promise<RememberedMessage[]> {
  const { messages } = await conversations.read(run);
  return messages.filter(({ turn }) => turn === run.streamRequestId);
}

/** The stored approvals that have ended, of a conversation's ended turns, newest first. */
async function approvalsOf(
  { engine }: Pick<HistoryDeps, 'engine'>,
  { tenant, userId, conversationId }: ConversationRef,
  running: string | undefined,
): Promise<Approval[]> {
  const request = { owner: { tenant, userId }, conversationId, limit: APPROVALS_MAX };
  const { rows, now } = await engine.approvals.list(request);
  const ended = rows.filter(
    ({ status, definition }) => isApprovalEnded(status) && definition.streamRequestId !== running,
  );
  return ended.map((row) => toApprovalWire(row, { now, content: true }));
}

/** Adds approvals to the calls. */
function addApprovals(shown: readonly ShownMessage[], approvals: readonly Approval[]): void {
  const byCall = new Map(
    approvals.map((approval) => [callOf(approval.streamRequestId, approval.toolCallId), approval]),
  );
  for (const { turn = '', parts } of shown)
    for (const [at, part] of parts.entries()) {
      if (!isCall(part)) continue;
      const approval = byCall.get(callOf(turn, part.toolCallId));
      if (approval !== undefined) parts[at] = toolPartOf(part, approval, outcomeOf(part));
    }
}

/** Identifies a call across turns; its id is unique only within its turn. */
const callOf = (turn: string, toolCallId: string): string => `${turn} ${toolCallId}`;

function outcomeOf({ state, output = null, errorText = '' }: ToolPart): ToolPartEnd | undefined {
  if (state === 'output-available') return { state, output };
  return state === 'output-error' ? { state, errorText } : undefined;
}

function isCall(part: UiMessagePart): part is ToolPart {
  return part.type === 'dynamic-tool';
}

interface ShownMessage {
  /** The stream request of its turn; absent for messages stored by earlier versions. */
  readonly turn: string | undefined;
  readonly role: HistoryMessage['role'];
  readonly parts: UiMessagePart[];
  /** The ids of its calls. */
  readonly callIds: Set<string>;
  /** A text about what was omitted from the person's message. The reply begins with it. */
  readonly leftOut: string;
  /** The number of model steps in it so far. */
  steps: number;
  /** As in the history; absent for a complete reply. */
  metadata?: { readonly isCut: true };
}

/** Adds messages of a model's conversation. A reply becomes one message with all its calls and their results. */
function append(shown: ShownMessage[], messages: readonly RememberedMessage[]): ShownMessage[] {
  for (const { role, content, turn, isCut } of messages) {
    const newest = shown.at(-1);
    if (role === 'tool') takeResults(newest?.parts ?? [], content);
    else if (role === 'assistant' && newest?.role === 'assistant' && newest.turn === turn)
      addStep(newest, content);
    else {
      const message = { turn, role, parts: [], callIds: new Set<string>(), leftOut: '', steps: 0 };
      if (role === 'user')
        shown.push({ ...message, parts: sentParts(content), leftOut: leftOutText([{ role, content }]) });
      else shown.push(addStep(message, content, newest?.leftOut));
    }
    const last = shown.at(-1);
    if (isCut && last !== undefined) last.metadata = { isCut };
  }
  return shown;
}

function addStep(message: ShownMessage, content: unknown, leftOut = ''): ShownMessage {
  const texts = [...textParts(leftOut), ...textParts(content)];
  message.parts.push({ type: 'step-start' }, ...texts, ...callParts(message, content));
  message.steps += 1;
  return message;
}

/**
 * Derives each message's id from its turn: the reply has the id that the turn's stream uses, and the others count back from the
 * last message that the turn answers. So ids stay the same when the oldest messages leave the history.
 */
function withIds(shown: readonly ShownMessage[]): HistoryMessage[] {
  const behind = new Map<string, number>();
  return shown
    .map((message, position) => ({ ...message, position }))
    .toReversed()
    .map(({ turn, role, parts, metadata, position }) => {
      const message = { role, parts, ...(metadata !== undefined && { metadata }) };
      if (turn === undefined) return { id: `msg_${position}`, ...message };
      const id = messageIdOf(turn);
      const place = behind.get(turn);
      const isReply = role === 'assistant' && place === undefined;
      behind.set(turn, isReply ? 0 : (place ?? 0) + 1);
      return { id: isReply ? id : `${id}_${place ?? 0}`, ...message };
    })
    .toReversed();
}

/** A person's message as it was sent. Omitted files are named, because they are no longer stored. */
function sentParts(content: unknown): UiMessagePart[] {
  if (typeof content === 'string') return textParts(content);
  return contentParts(content).flatMap((part): UiMessagePart[] => {
    if (isLeftOut(part)) return [{ type: 'data-left-out', data: { v: 1, text: part.text } }];
    if (part.type === 'text') return textParts(part.text);
    const { mediaType, data, filename } = part;
    const url = isAddress(part) ? data : `data:${mediaType};base64,${data}`;
    return [{ type: 'file', mediaType, url, ...(filename !== undefined && { filename }) }];
  });
}

function textParts(content: unknown): UiMessagePart[] {
  const text = textOf({ content });
  return text === '' ? [] : [{ type: 'text', text, state: 'done' }];
}

/** The calls of a step, with the ids that they have in their turn's events. */
function callParts({ callIds, steps }: ShownMessage, content: unknown): UiMessagePart[] {
  return recordsIn(content).flatMap(({ type, toolCallId: id, toolName, input = null }) => {
    if (type !== 'tool-call' || typeof id !== 'string' || typeof toolName !== 'string') return [];
    const toolCallId = uniqueCallId(callIds, id, steps);
    return [toolPartOf({ toolCallId, toolName, input })];
  });
}

/** Adds results to the calls of a reply's newest step. The results are in the order of the calls. */
function takeResults(parts: UiMessagePart[], content: unknown): void {
  const step = parts.findLastIndex(({ type }) => type === 'step-start');
  const places = [...parts.entries()].filter(([at, { type }]) => at > step && type === 'dynamic-tool');
  for (const [nth, { output, page }] of recordsIn(content).entries()) {
    const [at = -1, call] = places[nth] ?? [];
    if (call?.type !== 'dynamic-tool' || !isRecord(output)) continue;
    const { toolCallId, toolName, input } = call;
    const known = { ...AGENT_CALL, toolCallId, toolName, input };
    parts[at] =
      output.type === 'error-text'
        ? { ...known, state: 'output-error', errorText: String(output.value) }
        : { ...known, state: 'output-available', output: shownOutput(input, output.value) };
    if (isNamed(page)) parts.push({ type: 'data-tool-page', id: toolCallId, data: shownPage(page) });
  }
}

function isNamed(page: unknown): page is Parameters<typeof shownPage>[0] {
  return isRecord(page) && typeof page.pageId === 'string' && typeof page.service === 'string';
}

/** A reference to a secret is only for the model, so it is not shown. */
function shownOutput(input: unknown, output: unknown): unknown {
  const isSecret = isRecord(input) && input.kind === 'secret' && isRecord(output) && 'reference' in output;
  return isSecret ? { status: output.status } : (output ?? null);
}

function recordsIn(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
