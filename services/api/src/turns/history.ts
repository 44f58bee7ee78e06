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
  /** Present for a reply that was not finished, because its turn was stopped or failed. */
  readonly metadata?: { readonly isCut: true };
}

export interface ConversationHistory {
  /** Oldest first. The last one is the person's while its reply is being written. */
  readonly messages: readonly HistoryMessage[];
  /** True while a turn runs or waits; its reply is read from its stream. */
  readonly isRunning: boolean;
}

// Calls before the newest so many are shown without their approvals.
const APPROVALS_MAX = 200;
// The second attempt finds a turn that ended between the two reads of the first.
const ATTEMPTS = 2;

/** Reads a conversation as its person sees it. Throws `not_found` where nothing was ever said, and `unavailable`. */
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
 * The messages of the assistant in a turn. The record has whole steps only; what was said in one that was stopped or
 * failed is in the conversation, for as long as that keeps the message which the turn answers.
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

/** What a conversation keeps of one turn. */
async function keptOf(conversations: HistoryDeps['conversations'], run: Run): Promise<RememberedMessage[]> {
  const { messages } = await conversations.read(run);
  return messages.filter(({ turn }) => turn === run.streamRequestId);
}

/** The ended approvals of the ended turns of a conversation that are still kept, newest first. */
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

/** Shows each call with its approval. */
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

/** Names a call beyond its turn, within which its id is unique. */
const callOf = (turn: string, toolCallId: string): string => `${turn} ${toolCallId}`;

function outcomeOf({ state, output = null, errorText = '' }: ToolPart): ToolPartEnd | undefined {
  if (state === 'output-available') return { state, output };
  return state === 'output-error' ? { state, errorText } : undefined;
}

function isCall(part: UiMessagePart): part is ToolPart {
  return part.type === 'dynamic-tool';
}

interface ShownMessage {
  /** The stream request of its turn; absent for messages that earlier versions stored. */
  readonly turn: string | undefined;
  readonly role: HistoryMessage['role'];
  readonly parts: UiMessagePart[];
  /** The ids of its calls. */
  readonly callIds: Set<string>;
  /** What was left out of it, which its reply begins with. */
  readonly leftOut: string;
  /** How many steps of the model it holds so far. */
  steps: number;
  /** As in the history; absent for a whole reply. */
  metadata?: { readonly isCut: true };
}

/** Adds messages of a model's conversation: a reply with all of its calls and their results is one message. */
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
 * Names each message after its turn: the reply as the turn's stream does, the others by how far they are from the last
 * one that the turn answers. So an id stays what it is when the oldest messages leave the history.
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

/** A person's message as it was sent. What was left out of it is named, and is not there any more. */
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

/** The calls of a step, with the ids that the events of their turn have. */
function callParts({ callIds, steps }: ShownMessage, content: unknown): UiMessagePart[] {
  return recordsIn(content).flatMap(({ type, toolCallId: id, toolName, input = null }) => {
    if (type !== 'tool-call' || typeof id !== 'string' || typeof toolName !== 'string') return [];
    const toolCallId = uniqueCallId(callIds, id, steps);
    return [toolPartOf({ toolCallId, toolName, input })];
  });
}

/** Completes the calls of a reply's newest step with their results, which are in the order of the calls. */
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

/** A reference to a secret is for the model only. */
function shownOutput(input: unknown, output: unknown): unknown {
  const isSecret = isRecord(input) && input.kind === 'secret' && isRecord(output) && 'reference' in output;
  return isSecret ? { status: output.status } : (output ?? null);
}

function recordsIn(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
