import { mintStreamRequestId, type Owner } from '@parley/shared/domain/ids';
import { type Message, NOBODY, type RunRef } from '@parley/shared/domain/run';
import type { Engine } from '@parley/shared/engine/engine';
import { untilBack } from '@parley/shared/engine/outage';
import type { RunQueue } from '@parley/shared/ports/run-queue';
import type { NewRun, Runs } from '@parley/shared/ports/runs';
import { type Delegate, type DelegatingCall, turnCallId } from './call-tool.ts';
import { type FollowDeps, followDelegate } from './delegate-follow.ts';
import { runDelegate } from './delegate-run.ts';
import type { RunAgent } from './run-steps.ts';
import { createRunWriter } from './run-writer.ts';
import { failed } from './tool.ts';

// The configuration allows no circles; what is longer than this is none that anybody wants.
const DEPTH_MAX = 5;

export interface DelegateDeps extends FollowDeps {
  readonly engine: Pick<Engine, 'withdraw' | 'watch'>;
  readonly runs: Runs;
  readonly agents: {
    find(id: string): { readonly id: string; readonly title: string };
    open(id: string, principal: Owner, signal: AbortSignal): Promise<RunAgent>;
  };
  /** The pod that writes the runs. */
  readonly owner: string;
  /** Offers runs to all pods. */
  readonly runQueue: Pick<RunQueue, 'offer'>;
  /** Whether a delegate works on the pod of whoever delegates, or on any. */
  readonly delegates: 'same-pod' | 'any-pod';
}

/**
 * Runs another agent on a task: a run with a record, a feed and a conversation of its own, none of which is a chat's.
 * Its answer is the outcome. What its tools do is told on the turn's stream, and what it asks is asked there. It ends
 * with whoever delegated; it counts to their tokens and, but for its waits, to their time.
 */
export function createDelegate(deps: DelegateDeps): Delegate {
  return async (call, id, task) => {
    const { from } = call;
    const { title } = deps.agents.find(id);
    if (from.depth >= DEPTH_MAX) {
      return failed(`${title} was not asked: ${DEPTH_MAX} agents already wait for each other.`);
    }
    const { tenant, userId } = from.run;
    const streamRequestId = call.before ?? mintStreamRequestId();
    const run: RunRef = { tenant, userId, streamRequestId, conversationId: streamRequestId };
    const input: Message[] = [{ role: 'user', content: task }];
    const known =
      call.before === undefined ? undefined : await untilBack(() => deps.runs.standing(run), from.signal);
    if (call.before === undefined) await call.note(streamRequestId);
    const isHere = deps.delegates === 'same-pod' && known === undefined;
    const begun =
      known ??
      (await begin(deps, call, newRunOf(call, { run, id, owner: isHere ? deps.owner : NOBODY, input })));
    if (!isHere) {
      // Whoever has it already keeps it.
      await untilBack(() => deps.runQueue.offer(run, begun.term), from.signal);
      return followDelegate(deps, call, { run, id, title });
    }
    const agent = await deps.agents.open(id, { tenant, userId }, from.signal);
    const writer = createRunWriter({ runs: deps.runs, run, term: begun.term, writerSeq: 1 });
    const callId = turnCallId(from, call.toolCallId);
    return runDelegate(deps, from, { ...agent, id, title, run, input, writer, callId });
  };
}

async function begin({ runs }: DelegateDeps, { from }: DelegatingCall, run: NewRun) {
  const begun = await untilBack(() => runs.begin(run), from.signal);
  if (begun.type !== 'begun') throw new Error('A conversation of its own had another turn.');
  return begun;
}

interface Task {
  readonly run: RunRef;
  readonly id: string;
  readonly owner: string;
  readonly input: readonly Message[];
}

function newRunOf({ from, toolCallId }: DelegatingCall, { run, id, owner, input }: Task): NewRun {
  const { turn } = from;
  const { streamRequestId, conversationId } = run;
  return {
    ...run,
    agent: id,
    owner,
    parent: { streamRequestId: from.run.streamRequestId, toolCallId },
    commission: {
      turn: { streamRequestId: turn.run.streamRequestId, conversationId: turn.run.conversationId },
      depth: from.depth,
      tokens: from.budget.left,
    },
    support: turn.support,
    input,
    event: {
      type: 'turn-started',
      conversationId,
      messageId: `msg_${streamRequestId.slice(3)}`,
      agent: id,
    },
  };
}
