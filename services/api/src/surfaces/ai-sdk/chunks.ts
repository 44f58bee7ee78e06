/** Converts the events of a turn to chunks that every AI SDK client accepts. Replays, cuts and ids are in `encoder.ts`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { CallPage, FinishReason, TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { UIMessageChunk } from 'ai';
import { shownApproval } from '../../turns/approvals/shown.ts';
import { shownElicitation, shownNotice, shownPage } from '../../turns/shown.ts';
import { createPieces } from '../../turns/text.ts';

type Chunk = UIMessageChunk;
type FinishChunk = Extract<Chunk, { type: 'finish' }>;

// Marks calls that the agent makes. A page neither makes them nor sends the message again when they have ended.
const OF_AGENT = { providerExecuted: true, dynamic: true } as const;

const FINISH: Readonly<Record<FinishReason, NonNullable<FinishChunk['finishReason']>>> = {
  stop: 'stop',
  length: 'length',
  // The model wanted more tools but was not asked again. The AI SDK's own turns report a step limit in the same way.
  'step-limit': 'tool-calls',
  'content-filter': 'content-filter',
  stopped: 'other',
};

/** Converts a turn to chunks of the AI SDK's UI message stream, in an order that its readers accept. */
interface AiSdkChunks {
  turn(event: TurnEvent): readonly Chunk[];
  elicitation(elicitation: Elicitation): readonly Chunk[];
  approval(approval: Approval): readonly Chunk[];
  /** The end of a stream whose turn waits for approvals. A standard client then sends them with its next request. */
  untilApproved(): readonly Chunk[];
  /** Reports that the turn was detached earlier and has continued. Its reader may still have the state `waiting`. */
  passDetached(): void;
  /** True if this step or a later one has shown something, which the protocol cannot take back. */
  hasShown(step: number): boolean;
}

/**
 * Uses only chunk types and keys that every version 6 knows: early releases such as 6.0.44, which are still in use, refuse any
 * other key, and a refused chunk ends the reader's stream. Text that was never begun and results of unknown calls are refused
 * as well. So missing chunks are added, and chunks that would break the reader are left out.
 */
export function createAiSdkChunks(): AiSdkChunks {
  const pieces = createPieces();
  const openBlocks = new Set<string>();
  const openThoughts = new Set<string>();
  const calls = new Set<string>();
  const denied = new Set<string>();
  /** The newest approval of each call. The approval of a delegate on another pod may arrive before its call. */
  const approvals = new Map<string, Approval>();
  // Questions that arrived before the start of the message, where clients would drop them; undefined after the start.
  let heldQuestions: Elicitation[] | undefined = [];
  let step = 0;
  let stepOpen = false;
  let shownStep = -1;
  let wasDetached = false;

  function begin(messageId?: string): Chunk[] {
    if (heldQuestions === undefined) return [];
    const questions = heldQuestions;
    heldQuestions = undefined;
    return [
      { type: 'start', ...(messageId !== undefined && { messageId }) },
      ...questions.map(questionChunk),
    ];
  }

  function showing(chunks: Chunk[]): Chunk[] {
    if (chunks.length > 0) shownStep = Math.max(shownStep, step);
    return chunks;
  }

  function textOf(block: string, delta: string): Chunk[] {
    if (delta === '') return [];
    const begun = openBlocks.has(block);
    openBlocks.add(block);
    return showing([
      ...(begun ? [] : [{ type: 'text-start' as const, id: block }]),
      { type: 'text-delta', id: block, delta },
    ]);
  }

  function closeBlock(block: string): Chunk[] {
    const rest = textOf(block, pieces.finish(block));
    return openBlocks.delete(block) ? [...rest, { type: 'text-end', id: block }] : rest;
  }

  /** A part without text, whose state tells clients that the model is thinking. */
  function thinking(id: string): Chunk[] {
    if (openThoughts.has(id)) return [];
    openThoughts.add(id);
    return [{ type: 'reasoning-start', id }];
  }

  function closeThinking(id: string): Chunk[] {
    return openThoughts.delete(id) ? [{ type: 'reasoning-end', id }] : [];
  }

  function closeStep(): Chunk[] {
    const rests = pieces.finishAll().flatMap(([block, text]) => textOf(block, text));
    const ends = [
      ...rests,
      ...[...openBlocks].flatMap(closeBlock),
      ...[...openThoughts].flatMap(closeThinking),
    ];
    if (!stepOpen) return ends;
    stepOpen = false;
    return [...ends, { type: 'finish-step' }];
  }

  function openStep(next: number): Chunk[] {
    // A restarted step begins with an event that the reader already has.
    if (stepOpen && next === step) return [];
    const closed = closeStep();
    step = next;
    stepOpen = true;
    return [...closed, { type: 'start-step' }];
  }

  function resultOf(toolCallId: string, chunk: Chunk): Chunk[] {
    return calls.has(toolCallId) ? showing([chunk]) : [];
  }

  /** Names the page that shows a call. */
  function pageOf({
    toolCallId,
    page,
  }: {
    readonly toolCallId: string;
    readonly page?: CallPage | undefined;
  }): Chunk[] {
    return page === undefined
      ? []
      : showing([{ type: 'data-tool-page', id: toolCallId, data: shownPage(page) }]);
  }

  /** The change that an approval makes in its call's part. */
  function approvalOf(toolCallId: string): Chunk[] {
    const { approvalId = '', status } = approvals.get(toolCallId) ?? {};
    if (!calls.has(toolCallId)) return [];
    if (status === 'pending') return showing([{ type: 'tool-approval-request', approvalId, toolCallId }]);
    if (status !== 'denied') return [];
    denied.add(toolCallId);
    return showing([{ type: 'tool-output-denied', toolCallId }]);
  }

  function chunksOf(event: TurnEvent): Chunk[] {
    switch (event.type) {
      case 'turn-started':
      case 'run-paused':
      case 'run-resumed':
      case 'turn-attached':
      case 'tool-progress':
      case 'tool-log':
      case 'client-asked':
      case 'client-ask-ended':
        return [];
      case 'turn-detached':
        wasDetached = true;
        return [
          ...closeStep(),
          { type: 'finish', finishReason: 'other', messageMetadata: { parley: { state: 'waiting' } } },
        ];
      case 'step-started':
        return openStep(event.step);
      case 'step-finished':
        return closeStep();
      case 'step-restarted':
        pieces.clear();
        return [...openThoughts].flatMap(closeThinking);
      case 'thinking-started':
        return thinking(event.block);
      case 'thinking-finished':
        return closeThinking(event.block);
      case 'text-delta':
        return textOf(event.block, pieces.add(event.block, event.text));
      case 'text-finished':
        return closeBlock(event.block);
      case 'tool-called':
        calls.add(event.toolCallId);
        return [...showing(callChunks(event)), ...approvalOf(event.toolCallId)];
      case 'tool-returned': {
        const { toolCallId, output = null } = event;
        const returned = { type: 'tool-output-available', toolCallId, output, ...OF_AGENT } as const;
        return [...resultOf(toolCallId, returned), ...pageOf(event)];
      }
      case 'tool-partial': {
        const { toolCallId, text: output } = event;
        const partial = { output, preliminary: true, ...OF_AGENT };
        return resultOf(toolCallId, { type: 'tool-output-available', toolCallId, ...partial });
      }
      case 'tool-failed': {
        const { toolCallId, message } = event;
        // The part shows that the person denied the call; an error would replace that.
        if (denied.has(toolCallId)) return [];
        const error = { type: 'tool-output-error', toolCallId, errorText: message, ...OF_AGENT } as const;
        return [...resultOf(toolCallId, error), ...pageOf(event)];
      }
      case 'tool-auth-required':
        return showing([{ type: 'data-tool-auth-required', id: event.toolCallId, data: shownNotice(event) }]);
      case 'turn-finished':
        return [
          ...closeStep(),
          { type: 'finish', finishReason: FINISH[event.reason], ...finishedMetadata() },
        ];
      case 'turn-failed':
        return [
          ...closeStep(),
          ...failureChunks(event.code, event.message),
          { type: 'finish', finishReason: 'error', ...finishedMetadata() },
        ];
    }
  }

  /** Replaces the state `waiting` of a detached turn. It is sent because clients merge metadata into what they have. */
  function finishedMetadata(): Pick<FinishChunk, 'messageMetadata'> {
    return wasDetached ? { messageMetadata: { parley: { state: 'finished' } } } : {};
  }

  return {
    turn: (event) => [
      ...begin(event.type === 'turn-started' ? event.messageId : undefined),
      ...chunksOf(event),
    ],
    elicitation(elicitation) {
      if (heldQuestions === undefined) return [questionChunk(elicitation)];
      heldQuestions.push(elicitation);
      return [];
    },
    approval(approval) {
      const { approvalId, toolCallId } = approval;
      const card: Chunk = {
        type: 'data-approval-request',
        id: approvalId,
        data: shownApproval(approval),
      };
      const before = approvals.get(toolCallId);
      const isMoved = before?.approvalId === approvalId && before.status === approval.status;
      approvals.set(toolCallId, approval);
      // Only the deadline was moved. The client may already show the person's decision in the call, so the call's part is not
      // sent again.
      return isMoved ? [card] : [card, ...approvalOf(toolCallId)];
    },
    untilApproved: () => [...closeStep(), { type: 'finish', finishReason: 'tool-calls' }],
    passDetached() {
      wasDetached = true;
    },
    hasShown: (restarted) => shownStep >= restarted,
  };
}

/**
 * A persistent part. It is sent again under the same id on every change, so the client keeps one part and replaces its data.
 */
function questionChunk(elicitation: Elicitation): Chunk {
  return {
    type: 'data-elicitation-request',
    id: elicitation.elicitationId,
    data: shownElicitation(elicitation),
  };
}

function callChunks(event: Extract<TurnEvent, { type: 'tool-called' }>): Chunk[] {
  const call = { toolCallId: event.toolCallId, toolName: event.toolName, ...OF_AGENT };
  return [
    { type: 'tool-input-start', ...call },
    { type: 'tool-input-available', ...call, input: event.input ?? null },
  ];
}

/** The code is sent first, in a part of its own, because the error chunk can only contain a text. */
function failureChunks(code: string, message: string): Chunk[] {
  return [
    { type: 'data-turn-failed', data: { v: 1, code, message }, transient: true },
    { type: 'error', errorText: message },
  ];
}
