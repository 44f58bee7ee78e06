import { createHash } from 'node:crypto';
import type { AskInput } from '@parley/shared/domain/elicitations/ask-input';
import { OUTCOMES } from '@parley/shared/domain/elicitations/outcome';
import { isTerminal, type TerminalStatus } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import type { PauseRecord, RunRef } from '@parley/shared/domain/runs/run';
import type { Caller, Seen } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';

/** Why a question was taken back that no client could show. */
const UNDELIVERABLE = 'undeliverable';

/** What an agent asks; whom and where follows from its run. */
export type Question = Omit<AskInput, 'userId' | 'streamRequestId' | 'conversationId'>;

/** How a question ended. */
export interface AskOutcome {
  readonly elicitationId: string;
  readonly status: TerminalStatus;
  /** The answer to an accepted form. */
  readonly content?: Readonly<Record<string, unknown>>;
  /** What the asker itself goes on with, where the question could not be shown: nobody's answer. */
  readonly fallback?: Readonly<Record<string, unknown>>;
  /** What the model is told of the outcome; the answer itself is the caller's to add. */
  readonly text: string;
}

export interface QuestionDeps {
  readonly engine: Pick<Engine, 'ask' | 'wait' | 'withdraw'>;
  /** Keeps that the run pauses. */
  readonly keep: (pause: PauseRecord) => Promise<void>;
  /** Keeps that it goes on, with what is kept next: the question itself says how it ended. */
  readonly note: (pause: PauseRecord) => Promise<void>;
  /** Told of the question once it is open. */
  readonly onAsked: (elicitationId: string) => void;
  /** Runs the wait itself, once it is kept: from then on the run may be let go of. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  /** False when the person's client cannot show the question. */
  readonly isShown: boolean;
}

/** Where in a run a question arises: the same place always leads to the same question. */
export interface QuestionPlace {
  readonly run: RunRef;
  /** The turn that the run belongs to: its stream request and its conversation take the question. */
  readonly turn: RunRef;
  readonly toolCallId: string;
  /** The how-manieth question of that call. */
  readonly ordinal: number;
  /** Name of a question that several calls of the run have in common. */
  readonly shared?: string;
}

/**
 * Asks the run's person and sleeps until the question ends: the only door from an agent to the engine. Rides out an
 * outage of Redis. Throws what `ask` throws (`invalid_request`, `rate_limited`), and the signal's reason when aborted.
 */
export async function askPerson(
  { engine, keep, note, onAsked, waiting, isShown }: QuestionDeps,
  place: QuestionPlace,
  question: Question,
  signal: AbortSignal,
): Promise<AskOutcome> {
  const { turn, toolCallId } = place;
  const asked = await retryWhileUnavailable(
    () =>
      engine.ask({
        tenant: turn.tenant,
        input: {
          ...question,
          userId: turn.userId,
          streamRequestId: turn.streamRequestId,
          conversationId: turn.conversationId,
        },
        idempotencyKey: keyOf(place),
        // A deploy may have changed its words, or who it says asks; it is the same question.
        keyDecides: true,
      }),
    signal,
  );
  onAsked(asked.row.id);
  const pause = {
    elicitationId: asked.row.id,
    toolCallId,
    trigger: question.context?.trigger ?? 'agent',
    pausedAt: asked.row.createdAt,
  };
  await keep(pause);
  const caller = { kind: 'service', tenant: turn.tenant } as const;
  if (!isShown) await retryWhileUnavailable(() => takeBack(engine, caller, asked.row.id), signal);
  const wait = () => retryWhileUnavailable(() => engine.wait({ caller, id: asked.row.id, signal }), signal);
  // One that has ended, or is about to, is no wait.
  const ended = isTerminal(asked.row.status) ? asked : await (isShown ? waiting(wait) : wait());
  // Whoever goes on with a run that was let go of meanwhile is to find it as it was.
  signal.throwIfAborted();
  await note({ ...pause, resumedAt: ended.now, outcome: ended.row.status });
  return outcomeOf(ended);
}

/** Ends a question that cannot be shown; one that the person has answered elsewhere by then stays answered. */
async function takeBack(engine: Pick<Engine, 'withdraw'>, caller: Caller, id: string): Promise<void> {
  try {
    await engine.withdraw({ caller, id, reason: UNDELIVERABLE });
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
  }
}

function outcomeOf({ row }: Seen): AskOutcome {
  if (!isTerminal(row.status)) throw new Error('A wait without a time of its own ended early.');
  const { onUnavailable } = row.definition;
  const isUndelivered = row.status === 'withdrawn' && row.settlement?.reason === UNDELIVERABLE;
  return {
    elicitationId: row.id,
    status: row.status,
    ...(row.settlement?.content !== undefined && { content: row.settlement.content }),
    ...(isUndelivered && onUnavailable !== undefined && { fallback: onUnavailable.content }),
    text: OUTCOMES[row.status].model,
  };
}

/** Tool call ids come from models and may be of any form. */
function keyOf({ run, toolCallId, ordinal, shared }: QuestionPlace): string {
  const name = JSON.stringify(shared === undefined ? ['call', toolCallId] : ['shared', shared]);
  const place = createHash('sha256').update(name).digest('base64url');
  // The blank is in no key that callers can send, so none of theirs is ever in the way.
  return `run ${run.streamRequestId} ${place} ${ordinal}`;
}
