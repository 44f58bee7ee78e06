import { isDeepStrictEqual } from 'node:util';
import type { Approval } from '@parley/shared/domain/approvals/approval';
import { unmaskArguments } from '@parley/shared/domain/approvals/mask';
import { isApprovalEnded } from '@parley/shared/domain/approvals/status';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { messageIdOf } from '@parley/shared/domain/ids';
import { isRecord } from '@parley/shared/domain/plain-record';
import type { ConversationRef, Message } from '@parley/shared/domain/runs/run';
import { notFound } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { type ToolPart, type ToolPartEnd, toolPartOf } from './approvals/tool-part.ts';
import type { UiMessagePart } from './message-parts.ts';
import { textOf } from './messages.ts';
import { jsonLine } from './plain.ts';

export interface HistoryDeps {
  readonly engine: Pick<Engine, 'approvals'>;
  readonly conversations: Pick<Conversations, 'read'>;
  readonly runs: Pick<Runs, 'read'>;
}

/** A message of a conversation as the AI SDK keeps it (`UIMessage`). */
export interface HistoryMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UiMessagePart[];
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
    const newest = shown.at(-1);
    if (newest?.role === 'assistant' && last !== undefined) newest.id = messageIdOf(last.streamRequestId);
    append(shown, input ?? []);
    if (shown.some(({ parts }) => parts.some(isCall)))
      addApprovals(shown, await approvalsOf(deps, conversation, running));
    return { messages: JSON.parse(jsonLine(shown)), isRunning: input !== undefined };
  }
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

/**
 * Shows each call with its approval. The ids of calls are unique within a turn only, and the messages do not name their
 * turn: an approval belongs to the newest call with its id, its tool and its arguments.
 */
function addApprovals(shown: readonly ShownMessage[], approvals: Approval[]): void {
  for (const { parts } of shown.toReversed())
    for (const [at, part] of parts.entries()) {
      if (!isCall(part)) continue;
      const found = approvals.findIndex((approval) => isOfCall(approval, part));
      const [approval] = found === -1 ? [] : approvals.splice(found, 1);
      if (approval !== undefined) parts[at] = toolPartOf(part, approval, outcomeOf(part));
    }
}

function isOfCall({ tool, arguments: asked, masked, ...approval }: Approval, call: ToolPart): boolean {
  if (approval.toolCallId !== call.toolCallId || tool.name !== call.toolName) return false;
  const input = isRecord(call.input) ? call.input : {};
  return isDeepStrictEqual(unmaskArguments(asked, input, masked), input);
}

function outcomeOf({ state, output = null, errorText = '' }: ToolPart): ToolPartEnd | undefined {
  if (state === 'output-available') return { state, output };
  return state === 'output-error' ? { state, errorText } : undefined;
}

function isCall(part: UiMessagePart): part is ToolPart {
  return part.type === 'dynamic-tool';
}

interface ShownMessage {
  id: string;
  readonly role: HistoryMessage['role'];
  readonly parts: UiMessagePart[];
}

/** Adds messages of a model's conversation: a reply with all of its calls and their results is one message. */
function append(shown: ShownMessage[], messages: readonly Message[]): ShownMessage[] {
  for (const { role, content } of messages) {
    const newest = shown.at(-1);
    if (role === 'tool') takeResults(newest?.parts ?? [], content);
    else if (role === 'assistant' && newest?.role === 'assistant') newest.parts.push(...replyParts(content));
    else {
      const parts = role === 'user' ? textParts(content) : replyParts(content);
      shown.push({ id: `msg_${shown.length}`, role, parts });
    }
  }
  return shown;
}

function replyParts(content: unknown): UiMessagePart[] {
  return [{ type: 'step-start' }, ...textParts(content), ...callParts(content)];
}

function textParts(content: unknown): UiMessagePart[] {
  const text = textOf({ content });
  return text === '' ? [] : [{ type: 'text', text, state: 'done' }];
}

function callParts(content: unknown): UiMessagePart[] {
  return recordsIn(content).flatMap(({ type, toolCallId, toolName, input = null }) =>
    type === 'tool-call' && typeof toolCallId === 'string' && typeof toolName === 'string'
      ? [{ type: 'dynamic-tool', toolCallId, toolName, state: 'input-available', input }]
      : [],
  );
}

/** Completes the calls of a reply with their results. */
function takeResults(parts: UiMessagePart[], content: unknown): void {
  for (const { toolCallId, output } of recordsIn(content)) {
    const at = parts.findLastIndex((part) => part.type === 'dynamic-tool' && part.toolCallId === toolCallId);
    const call = parts[at];
    if (call?.type !== 'dynamic-tool' || !isRecord(output)) continue;
    const { toolName, input } = call;
    const known = { type: 'dynamic-tool', toolCallId: call.toolCallId, toolName, input } as const;
    parts[at] =
      output.type === 'error-text'
        ? { ...known, state: 'output-error', errorText: String(output.value) }
        : { ...known, state: 'output-available', output: shownOutput(input, output.value) };
  }
}

/** A reference to a secret is for the model only. */
function shownOutput(input: unknown, output: unknown): unknown {
  const isSecret = isRecord(input) && input.kind === 'secret' && isRecord(output) && 'reference' in output;
  return isSecret ? { status: output.status } : (output ?? null);
}

function recordsIn(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
