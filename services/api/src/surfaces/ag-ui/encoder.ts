/** Encodes a turn as one AG-UI run. The events of single turn events are in `events.ts`, interrupts in `questions.ts`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { type Frame, STREAM_CLOSED } from '../../http/sse.ts';
import { type Encoded, type Encoder, silent } from '../../turns/encoder.ts';
import type { FollowedEvent } from '../../turns/follow.ts';
import { jsonLine } from '../../turns/plain.ts';
import { createAgUiTurn } from './events.ts';
import type { AgUiMessage } from './input.ts';
import { interruptOfApproval, interruptOfQuestion } from './questions.ts';
import { type AgUiEvent, type Interrupt, PROTOCOL_VERSION, type SentMessage } from './shapes.ts';

/** One run in the client's terms: a whole turn, or the part that follows the answers to its interrupts. */
export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  /** The id of the turn's reply. */
  readonly messageId: string;
  /** The messages of the thread that the client has. A snapshot begins with those of other turns. */
  readonly base: readonly (AgUiMessage | SentMessage)[];
  /** True for a client that returns without messages, so it gets them first. */
  readonly isReturning?: boolean;
  /** True if the reader has the beginning of the turn. The turn's tokens are then not this run's. */
  readonly isContinued?: boolean;
  /** False for clients before 1.0, which do not know a cancelled run as an outcome. */
  readonly knowsCancelled: boolean;
  /** Events about the run that its reader gets first. */
  readonly notes?: readonly AgUiEvent[];
}

/** Tells the reader why its stream breaks off: its token has expired, and it must return with a new one. */
export const AG_UI_ON_EXPIRY: readonly Frame[] = [
  frameOf({
    type: 'RUN_ERROR',
    code: STREAM_CLOSED.reason,
    message: 'The token has expired. The turn goes on; connect to the thread with a new token.',
  }),
];

/** Tells the reader that the turn continues: the pod drains, or another connection took over this one's place. */
export const AG_UI_ON_CUT: readonly Frame[] = [
  frameOf({
    type: 'RUN_ERROR',
    code: 'unavailable',
    message: 'This connection has ended. The turn goes on; connect to the thread to read on.',
  }),
];

/** The beginning of a run. */
export function openingOf({ threadId, runId, base, isReturning, notes = [] }: AgUiRun): AgUiEvent[] {
  return [
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: PROTOCOL_VERSION },
    ...(isReturning === true ? [{ type: 'MESSAGES_SNAPSHOT' as const, messages: base }] : []),
    ...notes,
  ];
}

export function frameOf(event: AgUiEvent): Frame {
  return { text: jsonLine(event) };
}

/**
 * Encodes a turn as one run of AG-UI. The run ends when the turn ends, or when the whole turn waits for its person: then with
 * an interrupt for each open question and approval. A snapshot of the messages takes back the output of a restarted step.
 */
export function createAgUiEncoder(run: AgUiRun): Encoder<Frame> {
  const { threadId, runId, messageId } = run;
  const others = run.base.filter(({ id }) => !id.startsWith(`${messageId}.`));
  const open = new Map<string, Interrupt>();
  let turn = createAgUiTurn(messageId);
  let hasBegun = false;
  let isOver = false;

  function finished({ reason, usage }: Extract<TurnEvent, { type: 'turn-finished' }>): AgUiEvent {
    const { inputTokens, outputTokens } = usage ?? {};
    const used = {
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    };
    const isCancelled = reason === 'stopped';
    return {
      type: 'RUN_FINISHED',
      threadId,
      runId,
      ...(!isCancelled && { outcome: { type: 'success' } }),
      ...(isCancelled && run.knowsCancelled && { outcome: { type: 'cancelled' } }),
      ...(run.isContinued !== true && Object.keys(used).length > 0 && { usage: [used] }),
    };
  }

  /** The end of a run whose turn waits. If the client can answer nothing, the run continues. */
  function interrupted(): AgUiEvent[] {
    const ends = [...turn.close()];
    if (open.size === 0) return ends;
    isOver = true;
    const interrupts = [...open.values()];
    return [...ends, { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'interrupt', interrupts } }];
  }

  function snapshot(): AgUiEvent[] {
    return [...turn.close(), { type: 'MESSAGES_SNAPSHOT', messages: [...others, ...turn.messages()] }];
  }

  /** Makes the reader discard what it has of the turn. */
  function startOver(): AgUiEvent[] {
    const ends = turn.close();
    open.clear();
    turn = createAgUiTurn(messageId);
    return [...ends, ...snapshot()];
  }

  function eventsOf(event: TurnEvent): AgUiEvent[] {
    switch (event.type) {
      case 'turn-detached':
        return interrupted();
      case 'step-restarted': {
        // Closing a text also sends the half of a character that was held back.
        const ends = turn.close();
        const wasSaid = turn.hasSaid(event.step);
        turn.takeBack(event.step);
        return wasSaid ? [...ends, ...snapshot()] : [...ends];
      }
      case 'turn-finished':
        isOver = true;
        return [...turn.close(), finished(event)];
      case 'turn-failed':
        isOver = true;
        return [...turn.close(), { type: 'RUN_ERROR', code: event.code, message: event.message }];
      default:
        return [...turn.take(event)];
    }
  }

  function note(id: string, interrupt: Interrupt | undefined): AgUiEvent[] {
    if (interrupt === undefined) open.delete(id);
    else open.set(id, interrupt);
    return [];
  }

  function all(event: FollowedEvent): AgUiEvent[] {
    switch (event.type) {
      case 'turn':
        return eventsOf(event.event);
      case 'question':
        return note(event.elicitation.elicitationId, openQuestion(event.elicitation));
      case 'approval':
        return note(event.approval.approvalId, event.isOver ? undefined : openApproval(event.approval));
      case 'detachment-passed':
        return [...turn.close()];
      case 'stale':
      case 'lost':
        return startOver();
      case 'unknown':
        return [];
    }
  }

  return {
    encode(event) {
      if (isOver) return silent('end');
      const events: AgUiEvent[] = hasBegun ? [] : openingOf(run);
      hasBegun = true;
      const found = all(event);
      if (!('isKnown' in event) || !event.isKnown) events.push(...found);
      if ('isWaiting' in event && event.isWaiting && !isOver) events.push(...interrupted());
      return { frames: events.map(frameOf), next: isOver ? 'end' : 'more' } satisfies Encoded<Frame>;
    },
  };
}

function openQuestion(question: Elicitation): Interrupt | undefined {
  const isOpen = question.status === 'pending' || question.status === 'opened';
  return isOpen ? interruptOfQuestion(question) : undefined;
}

function openApproval(approval: Approval): Interrupt | undefined {
  return approval.status === 'pending' ? interruptOfApproval(approval) : undefined;
}
