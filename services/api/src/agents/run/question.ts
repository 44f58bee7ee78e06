/**
 * Asks the person of a run, so that any pod that continues the run finds the same question. What is asked is decided by the
 * tools.
 */

import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { isTerminal, type TerminalStatus } from '@parley/core/domain/elicitations/status';
import { isParleyError } from '@parley/core/domain/errors';
import { whenAborted } from '@parley/shared/async/release-on-abort';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { Caller, Seen } from '@parley/shared/domain/caller';
import { modelTextOf } from '@parley/shared/domain/elicitations/outcome';
import { isAsked, type Reach } from '@parley/shared/domain/reach';
import type { PauseRecord, RunRef } from '@parley/shared/domain/runs/run';
import type { AgentEngine } from '@parley/shared/elicitations/engine';
import { sha256 } from '@parley/shared/records/digest';
import { NOT_NEEDED, withdraw } from '@parley/shared/runs/open-questions';

/** The withdrawal reason of a question that reached nobody. */
const UNDELIVERABLE = 'undeliverable';
/** A wait that begins this soon after the ask does not need to read the record first. */
const FRESH_MS = 1_000;

/** A question of an agent. The run determines its owner and its stream request. */
export type AgentQuestion = Omit<AskInput, 'userId' | 'streamRequestId' | 'conversationId'>;

/** Shared by the calls of a turn that ask for the same thing. */
interface SharedQuestion {
  readonly name: string;
  /** Runs once the question is open, before the wait, because the question may no longer be needed by then. */
  readonly onOpen: () => Promise<void>;
}

export interface AskOptions {
  readonly shared?: SharedQuestion;
  /** Distinguishes questions with the same ordinal, for a call that may ask something else when it is repeated. */
  readonly digest?: string;
  /** When aborted, the question is withdrawn. */
  readonly withdrawn?: AbortSignal;
  /** True if the form's schema may contain `pattern`. */
  readonly patterns?: boolean;
}

/** How a question ended. */
export interface AskOutcome {
  readonly elicitationId: string;
  readonly status: TerminalStatus;
  /** The answer to an accepted form. */
  readonly content?: Readonly<Record<string, unknown>>;
  /** The asker's own default, if the question reached nobody. It is not the person's answer. */
  readonly fallback?: Readonly<Record<string, unknown>>;
  /** The outcome as text for the model, without the answer. */
  readonly text: string;
}

interface QuestionDeps {
  readonly engine: AgentEngine;
  /** Records that the run pauses, and resolves when that is stored. */
  readonly save: (pause: PauseRecord) => Promise<void>;
  /**
   * Records with the next write that the run continues. No separate write is needed, because the outcome is stored with the
   * question.
   */
  readonly saveSoon: (pause: PauseRecord) => Promise<void>;
  /** Called when the question is open. */
  readonly onAsked: (elicitationId: string) => void;
  /** Runs the wait, after the pause is stored. From then on, the run may be detached. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  readonly reach: Reach;
}

/** The place of a question in its run. The same place always leads to the same question. */
export interface QuestionPlace extends AskOptions {
  readonly run: RunRef;
  /** The turn of the run. Its stream request and its conversation receive the question. */
  readonly turn: RunRef;
  readonly toolCallId: string;
  /** Ordinal of the question among those of the call. */
  readonly ordinal: number;
}

/**
 * Asks the run's person and waits until the question ends. All questions of agents go through this function. Retries
 * while Redis is unavailable. Throws what `ask` throws (`invalid_request`, `rate_limited`), and the signal's reason
 * when aborted.
 */
export async function askPerson(
  { engine, save, saveSoon, onAsked, waiting, reach }: QuestionDeps,
  place: QuestionPlace,
  question: AgentQuestion,
  signal: AbortSignal,
): Promise<AskOutcome> {
  const { turn, toolCallId, shared, withdrawn, patterns } = place;
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
        // A new deployment may have changed the question's text or the agent's title, but the key identifies the same question.
        keyDecides: true,
        onAnswerPage: reach === 'page',
        patterns,
      }),
    signal,
  );
  const askedAt = performance.now();
  onAsked(asked.row.id);
  const pause = {
    elicitationId: asked.row.id,
    toolCallId,
    trigger: question.context?.trigger ?? 'agent',
    pausedAt: asked.row.createdAt,
  };
  await save(pause);
  const caller = { kind: 'service', tenant: turn.tenant } as const;
  if (!isAsked(reach))
    await retryWhileUnavailable(() => withdrawUndeliverable(engine, caller, asked.row.id), signal);
  else if (!isTerminal(asked.row.status)) await shared?.onOpen();
  const wait = () =>
    retryWhileUnavailable(() => {
      const seen = performance.now() - askedAt < FRESH_MS ? asked : undefined;
      return engine.wait({ caller, id: asked.row.id, seen, signal });
    }, signal);
  const forget = whenAborted(withdrawn, () => void takeBack(engine, caller, asked.row.id, signal));
  // A question that has ended, or has just been withdrawn, does not count as a wait.
  const untilEnded = async () =>
    isTerminal(asked.row.status) ? asked : await (isAsked(reach) ? waiting(wait) : wait());
  const ended = await untilEnded().finally(forget);
  // A run that was released during the wait must stay as it was for its next owner.
  signal.throwIfAborted();
  await saveSoon({ ...pause, resumedAt: ended.now, outcome: ended.row.status });
  return outcomeOf(ended);
}

/** Withdraws a question that reaches nobody. If the person has already answered it elsewhere, the answer stands. */
async function withdrawUndeliverable(
  engine: Pick<AgentEngine, 'withdraw' | 'withdrawRecord'>,
  caller: Caller,
  id: string,
): Promise<void> {
  try {
    await engine.withdraw({ caller, id, reason: UNDELIVERABLE });
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
  }
}

/** Withdraws a question or an approval for its asker, which ends its wait. If Redis stays unavailable, the deadline ends it. */
export async function takeBack(
  engine: Pick<AgentEngine, 'withdrawRecord'>,
  { tenant }: Caller,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const work = () => withdraw(engine, tenant, id, { reason: NOT_NEEDED });
  await retryWhileUnavailable(work, signal).catch(() => undefined);
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
    text: modelTextOf(row.status),
  };
}

/** The idempotency key of a question. The call id is hashed, because a model chose it and it may contain any text. */
function keyOf({ run, toolCallId, ordinal, shared, digest }: QuestionPlace): string {
  const call = digest === undefined ? ['call', toolCallId] : ['call', toolCallId, digest];
  const name = JSON.stringify(shared === undefined ? call : ['shared', shared.name]);
  const place = sha256(name);
  // Keys of callers cannot contain a space, so they never collide with this one.
  return `run ${run.streamRequestId} ${place} ${ordinal}`;
}
