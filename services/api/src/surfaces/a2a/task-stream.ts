/** Reads and follows a task from the feed of its run. How events become a task is in `shared/src/domain/a2a`. */

import { type FeedPosition, formatFeedPosition, parseFeedPosition } from '@parley/core/domain/events';
import type { Owner } from '@parley/core/domain/ids';
import { releaseOnAbort } from '@parley/shared/async/release-on-abort';
import { TICK, withTicks } from '@parley/shared/async/ticks';
import { withTimeLimit } from '@parley/shared/async/time-limit';
import { createTaskFold, type TaskFold, type TaskItem } from '@parley/shared/domain/a2a/task';
import { taskHeadOf } from '@parley/shared/domain/a2a/task-head';
import { isInterruptedState, isTerminalState, type WireUpdate } from '@parley/shared/domain/a2a/wire';
import type { Run } from '@parley/shared/domain/runs/run';
import { turnEventOf, waitsForPerson } from '@parley/shared/domain/runs/turn-events';
import type { LiveItem, WatchItem } from '@parley/shared/elicitations/watch';
import { inStreamPlace } from '../../http/limits/stream-places.ts';
import type { RouteCall } from '../../http/route.ts';
import { podDraining } from '../../turns/start.ts';
import { createTextAhead, type TextPiece } from '../../turns/text.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { FindAnswerMessage } from './taken-messages.ts';

type StreamDeps = Pick<A2aDeps, 'engine' | 'turns'>;

// A run with several open questions asks all of them within this time.
const QUIET_MS = 300;
const TICK_MS = 60_000;

/** A task up to the present end of its feed. */
export interface OpenedTask {
  readonly run: Run;
  readonly fold: TaskFold;
  /** The last event that is applied to the fold. */
  readonly until: FeedPosition | undefined;
  readonly findAnswerMessage: FindAnswerMessage;
}

/** Reads a task from its feed. Throws `unavailable`. */
export async function openTask(
  { engine }: Pick<StreamDeps, 'engine'>,
  run: Run,
  findAnswerMessage: FindAnswerMessage,
): Promise<OpenedTask> {
  const fold = createTaskFold(taskHeadOf(run), { text: 'chunks' });
  let until: FeedPosition | undefined;
  for await (const item of engine.replayItems(run)) {
    fold.take(await withAnswerMessage(item, findAnswerMessage));
    until = parseFeedPosition(item.id) ?? until;
  }
  return { run, fold, until, findAnswerMessage };
}

/** Follows tasks for one call. Each takes a place among the person's streams. The methods throw `rate_limited`. */
export interface TaskFollower {
  /** Takes a place, then follows the task that `begin` opens, for a limited time. */
  wait(begin: () => Promise<OpenedTask>, to: 'terminal' | 'interrupted'): Promise<OpenedTask>;
  /** The updates of a task, beginning with its current state. */
  stream(opening: () => Promise<OpenedTask>, to: 'terminal' | 'answerable'): AsyncGenerator<WireUpdate, void>;
}

export function createTaskFollower(
  deps: A2aDeps,
  agent: Pick<OfferedAgent, 'id'>,
  { owner, whenOver }: { readonly owner: Owner } & Pick<RouteCall, 'whenOver'>,
): TaskFollower {
  const by = { caller: { kind: 'user', ...owner }, whenOver } as const;
  return {
    wait(begin, to) {
      const reader = { stream: `a2a/${agent.id}`, returns: false };
      return inStreamPlace(deps.limits, by, reader, async (place) => {
        try {
          const opened = await begin();
          await withTimeLimit(deps.waitMs, place.signal, async (ending) => {
            try {
              for await (const _update of followTask(deps, opened, { signal: ending, to }));
            } catch (error) {
              if (!ending.aborted || place.signal.aborted) throw error;
            }
          });
          return opened;
        } finally {
          place.release();
        }
      });
    },
    async *stream(opening, to) {
      const opened = await opening();
      const reader = { stream: `a2a/${opened.run.streamRequestId}`, returns: false };
      const place = await inStreamPlace(deps.limits, by, reader, async (taken) => taken);
      try {
        const task = opened.fold.task();
        if (task !== undefined) yield { task };
        yield* followTask(deps, opened, { signal: place.signal, to });
      } finally {
        place.release();
      }
    },
  };
}

interface FollowTaskOptions {
  readonly signal: AbortSignal;
  /**
   * When to stop. `terminal`: at the end of the task. `answerable`: also at a state in which the caller must send something.
   * `interrupted`: also at every other state in which the task waits.
   */
  readonly to: 'terminal' | 'answerable' | 'interrupted';
}

/**
 * The updates of a task after its opening, from any pod. If the pod of its run dies, the run is taken over within seconds.
 * Throws `unavailable` when the signal is aborted, because the updates continue on another pod.
 */
async function* followTask(
  { engine, turns }: StreamDeps,
  { run, fold, until, findAnswerMessage }: OpenedTask,
  { signal, to }: FollowTaskOptions,
): AsyncGenerator<WireUpdate, void> {
  const isDone = () => fold.state !== undefined && isTerminalState(fold.state);
  const mayStop = () =>
    fold.state === 'TASK_STATE_INPUT_REQUIRED'
      ? to !== 'terminal'
      : to === 'interrupted' && fold.state !== undefined && isInterruptedState(fold.state);
  if (isDone()) return;
  const leaving = new AbortController();
  const following = AbortSignal.any([signal, leaving.signal]);
  const stopAttending = releaseOnAbort(following, turns.attend(run));
  const read = createItemReader(fold, until);
  try {
    const items = await engine.watchLive({
      stream: run,
      ...(until !== undefined && { after: until }),
      signal: following,
    });
    for await (const item of withTicks(items, () => (mayStop() ? QUIET_MS : TICK_MS))) {
      if (item === TICK) {
        if (mayStop()) return;
        continue;
      }
      // The feed was lost, so the client must open the task again.
      if (item.type === 'reset') throw podDraining();
      yield* read(await withAnswerMessage(item, findAnswerMessage));
      if (isDone() || (isDetached(item) && mayStop())) return;
    }
    throw podDraining();
  } catch (error) {
    throw signal.aborted ? podDraining() : error;
  } finally {
    leaving.abort();
    stopAttending();
  }
}

type ReadItem = Exclude<WatchItem | LiveItem, { type: 'reset' }>;

/** Adds to the item the caller's message that answered its question, if there is one. */
async function withAnswerMessage<Item extends TaskItem | ReadItem>(item: Item, find: FindAnswerMessage) {
  const answeredBy = item.type === 'elicitation' ? await find(item.elicitation, item.at) : undefined;
  return answeredBy === undefined ? item : { ...item, answeredBy };
}

/** Applies items to the fold. Each character of a text is returned once, either live or from the feed. */
function createItemReader(fold: TaskFold, until: FeedPosition | undefined) {
  const texts = createTextAhead();
  if (until !== undefined) texts.passEvent(formatFeedPosition(until), true);
  const take = (block: string, pieces: readonly TextPiece[]) =>
    pieces.flatMap(({ text }) => fold.takeText(block, text));

  return (item: ReadItem): readonly WireUpdate[] => {
    if (item.type === 'live') return take(item.text.block, texts.passLive(item.after, item.text));
    const event = item.type === 'other' ? turnEventOf(item.event) : undefined;
    if (event?.type === 'text-delta') return take(event.block, texts.passText(item.id, event.text, false));
    texts.passEvent(item.id, false);
    return fold.take(item);
  };
}

/** True for the event after which the whole turn waits. */
function isDetached(item: ReadItem): boolean {
  return item.type === 'other' && waitsForPerson(turnEventOf(item.event));
}
