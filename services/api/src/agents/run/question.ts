import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { isTerminal, type TerminalStatus } from '@parley/core/domain/elicitations/status';
import { isParleyError } from '@parley/core/domain/errors';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { Caller, Seen } from '@parley/shared/domain/caller';
import { modelTextOf } from '@parley/shared/domain/elicitations/outcome';
import { isAsked, type Reach } from '@parley/shared/domain/reach';
import type { PauseRecord, RunRef } from '@parley/shared/domain/runs/run';
import type { AgentEngine } from '@parley/shared/elicitations/engine';
import { sha256 } from '@parley/shared/records/digest';
import { withdraw } from '@parley/shared/runs/open-questions';

/** Reason of the withdrawal of a question that reached nobody. */
const UNDELIVERABLE = 'undeliverable';
/** Reason of the withdrawal of a question that its asker took back. */
const TAKEN_BACK = 'withdrawn_by_asker';
/** A wait that begins so soon after the ask needs no read before it. */
const FRESH_MS = 1_000;

/** A question of an agent. Its owner and its stream request follow from the run. */
export type AgentQuestion = Omit<AskInput, 'userId' | 'streamRequestId' | 'conversationId'>;

/** What the calls of a turn share that ask for the same thing. */
interface SharedQuestion {
  readonly name: string;
  /** Runs once the question is open, before the wait: its reason may have ceased to exist by then. */
  readonly onOpen: () => Promise<void>;
}

export interface AskOptions {
  readonly shared?: SharedQuestion;
  /** Identifies the question in addition to its ordinal, where a call that is repeated may ask something else. */
  readonly digest?: string;
  /** When aborted, the asker takes the question back. */
  readonly withdrawn?: AbortSignal;
  /** True accepts `pattern` in the form's schema. */
  readonly patterns?: boolean;
}

/** How a question ended. */
export interface AskOutcome {
  readonly elicitationId: string;
  readonly status: TerminalStatus;
  /** The answer to an accepted form. */
  readonly content?: Readonly<Record<string, unknown>>;
  /** The asker's own default, when the question reached nobody. It is not the person's answer. */
  readonly fallback?: Readonly<Record<string, unknown>>;
  /** The outcome as text for the model, without the answer. */
  readonly text: string;
}

interface QuestionDeps {
  readonly engine: AgentEngine;
  /** Records that the run pauses, and resolves when that is stored. */
  readonly save: (pause: PauseRecord) => Promise<void>;
  /**
   * Records that the run continues, with the next write. It need not be stored now, because the question has the
   * outcome.
   */
  readonly saveSoon: (pause: PauseRecord) => Promise<void>;
  /** Called when the question is open. */
  readonly onAsked: (elicitationId: string) => void;
  /** Runs the wait, after the pause is stored. From then on the run may be detached. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  readonly reach: Reach;
}

/** The place of a question in its run. The same place always leads to the same question. */
export interface QuestionPlace extends AskOptions {
  readonly run: RunRef;
  /** The turn that the run belongs to: its stream request and its conversation take the question. */
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
        // A deployment may have changed the question's text or its agent's title. It is the same question.
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
  const onWithdrawn = () => void takeBack(engine, caller, asked.row.id, signal);
  if (withdrawn?.aborted === true) onWithdrawn();
  else withdrawn?.addEventListener('abort', onWithdrawn, { once: true });
  // A question that has ended, or has just been withdrawn, does not count as a wait.
  const untilEnded = async () =>
    isTerminal(asked.row.status) ? asked : await (isAsked(reach) ? waiting(wait) : wait());
  const ended = await untilEnded().finally(() => withdrawn?.removeEventListener('abort', onWithdrawn));
  // A run that was released during the wait must stay as it was for its next owner.
  signal.throwIfAborted();
  await saveSoon({ ...pause, resumedAt: ended.now, outcome: ended.row.status });
  return outcomeOf(ended);
}

/** Withdraws a question that reaches nobody. If the person has answered it elsewhere by then, the answer stays. */
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

/** Withdraws a question or an approval on the asker's behalf. Its wait then ends. The deadline ends it if Redis stays unavailable. */
export async function takeBack(
  engine: Pick<AgentEngine, 'withdrawRecord'>,
  { tenant }: Caller,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const work = () => withdraw(engine, tenant, id, { reason: TAKEN_BACK });
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

/** The idempotency key of a question. The call id is hashed, because it comes from a model and may have any form. */
function keyOf({ run, toolCallId, ordinal, shared, digest }: QuestionPlace): string {
  const call = digest === undefined ? ['call', toolCallId] : ['call', toolCallId, digest];
  const name = JSON.stringify(shared === undefined ? call : ['shared', shared.name]);
  const place = sha256(name);
  // Callers cannot send a key with a space, so no key of theirs collides with this one.
  return `run ${run.streamRequestId} ${place} ${ordinal}`;
}
