import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/shared/domain/errors';
import { mintStreamRequestId, type StreamRef } from '@parley/shared/domain/ids';
import type { ConversationRef, Message, RunRef } from '@parley/shared/domain/run';
import { OPEN_STATUSES } from '@parley/shared/domain/status';
import type { Engine } from '@parley/shared/engine/engine';
import type { Conversations } from '@parley/shared/ports/conversations';
import type { Heartbeats } from '@parley/shared/ports/heartbeats';
import type { BeginResult, Runs } from '@parley/shared/ports/runs';
import type { Agents } from './agents.ts';
import { runTurn, TurnInterruptedError } from './run.ts';
import { createRunWriter } from './run-writer.ts';
import type { Support } from './tool.ts';

const BEAT_MS = 5_000;
// A pod that was slow for a moment is not dead.
const ALIVE_MS = 20_000;
const BEGIN_TRIES = 5;

export interface TurnsDeps {
  readonly engine: Engine;
  readonly runs: Runs;
  readonly conversations: Conversations;
  readonly heartbeats: Heartbeats;
  readonly agents: Agents;
  /** Name of this pod, for people; each start of it is an owner of its own. */
  readonly pod: string;
  /** Told of what ended a turn in an error. */
  readonly onFault: (error: unknown, run: RunRef) => void;
}

export interface TurnRequest {
  readonly conversation: ConversationRef;
  /** The agent to talk with; the configuration's own choice when absent. Throws `invalid_request` when unknown. */
  readonly agent?: string;
  readonly input: readonly Message[];
  /** What was said before, for a conversation that Parley does not know yet. */
  readonly before: readonly Message[];
  readonly support: Support;
}

/** The turns that this pod runs. */
export interface Turns {
  /** Begins a turn, which goes on whether or not anybody listens. Throws `turn_running` while another one runs. */
  begin(request: TurnRequest): Promise<RunRef>;
  /** The turn that runs in a conversation, on whichever pod. */
  running(conversation: ConversationRef): Promise<StreamRef | undefined>;
  /** Stops the running turn, on whichever pod; its open questions are withdrawn. False when none runs. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /** Ends all turns of this pod as interrupted, takes back what they asked, and resolves once that is done. */
  close(): Promise<void>;
}

interface RunningHere {
  readonly run: RunRef;
  readonly stopping: AbortController;
  readonly done: Promise<void>;
}

/** Makes the host of the turns of one pod. */
export function createTurns(deps: TurnsDeps): Turns {
  const { engine, runs, conversations, heartbeats } = deps;
  const owner = `${deps.pod}/${randomUUID()}`;
  /** By stream request: Parley mints those, so no two are alike. */
  const here = new Map<string, RunningHere>();
  const beat = () => heartbeats.beat(owner, ALIVE_MS).catch(() => undefined);
  const beating = setInterval(beat, BEAT_MS).unref();

  async function begin(request: TurnRequest): Promise<RunRef> {
    const agent = deps.agents.find(request.agent);
    const run: RunRef = { ...request.conversation, streamRequestId: mintStreamRequestId() };
    // Whoever finds this turn running must find its pod alive.
    await heartbeats.beat(owner, ALIVE_MS);
    const event = {
      type: 'turn-started',
      conversationId: run.conversationId,
      messageId: `msg_${run.streamRequestId.slice(3)}`,
      agent: agent.id,
    } as const;
    const begun = await beginOrClear({ ...run, agent: agent.id, owner, input: request.input, event });
    const stopping = new AbortController();
    const done = work(run, begun, agent.id, request, stopping.signal).finally(() =>
      here.delete(run.streamRequestId),
    );
    here.set(run.streamRequestId, { run, stopping, done });
    return run;
  }

  /** Begins the run; one whose pod is dead does not stand in its way. */
  async function beginOrClear(run: Parameters<Runs['begin']>[0]): Promise<BeginResult & { type: 'begun' }> {
    for (let attempt = 0; attempt < BEGIN_TRIES; attempt += 1) {
      const result = await runs.begin(run);
      if (result.type === 'begun') return result;
      if (await heartbeats.alive(result.owner)) break;
      await endLost({ ...run, streamRequestId: result.streamRequestId }, result.term);
    }
    throw new ParleyError('turn_running', 'A turn is running in this conversation; wait for it or stop it.');
  }

  async function endLost(run: RunRef, seen: number): Promise<void> {
    const term = await runs.takeOver(run, seen, owner);
    if (term === undefined) return;
    const { run: lost } = await runs.read(run);
    await runs.write(run, {
      term,
      firstSeq: (lost?.writerSeq ?? 0) + 1,
      events: [{ type: 'turn-failed', code: 'interrupted', message: 'The turn was interrupted.' }],
      end: { status: 'failed', messages: [...(lost?.input ?? [])] },
    });
  }

  async function work(
    run: RunRef,
    { term, writerSeq }: { readonly term: number; readonly writerSeq: number },
    agentId: string,
    request: TurnRequest,
    stopped: AbortSignal,
  ): Promise<void> {
    const onFault = (error: unknown) => deps.onFault(error, run);
    const writer = createRunWriter({ runs, run, term, writerSeq });
    try {
      const { messages } = await conversations.read(run);
      const agent = await deps.agents.open(agentId, AbortSignal.any([stopped, writer.lost]));
      await runTurn({
        ...agent,
        engine,
        writer,
        run,
        support: request.support,
        history: messages.length > 0 ? messages : request.before,
        input: request.input,
        stopped,
        onFault,
      });
    } catch (error) {
      onFault(error);
      const message = 'Something went wrong on our side; the log has the details.';
      const end = { status: 'failed', messages: [...request.input] } as const;
      await writer.end({ type: 'turn-failed', code: 'internal', message }, end).catch(onFault);
    }
  }

  async function running(conversation: ConversationRef): Promise<StreamRef | undefined> {
    const { tenant, userId } = conversation;
    const { running: streamRequestId } = await conversations.read(conversation);
    return streamRequestId === undefined ? undefined : { tenant, userId, streamRequestId };
  }

  return {
    begin,
    running,
    async stop(conversation) {
      const stream = await running(conversation);
      if (stream === undefined || !(await runs.stop(stream))) return false;
      here.get(stream.streamRequestId)?.stopping.abort();
      await withdrawOpen(engine, conversation, stream);
      return true;
    },
    async close() {
      clearInterval(beating);
      const all = [...here.values()];
      for (const { stopping } of all) stopping.abort(new TurnInterruptedError());
      await Promise.all(all.map(({ done }) => done));
      await Promise.all(all.map(({ run }) => withdrawOpen(engine, run, run).catch(() => undefined)));
    },
  };
}

/** Takes back what a turn still asks: its waits end, and with them the turn hears that it is to stop. */
async function withdrawOpen(
  engine: Engine,
  { tenant, userId, conversationId }: ConversationRef,
  { streamRequestId }: StreamRef,
): Promise<void> {
  const caller = { kind: 'service', tenant } as const;
  const owner = { tenant, userId };
  const { rows } = await engine.list({ owner, conversationId, statuses: OPEN_STATUSES, limit: 500 });
  const asked = rows.filter(({ definition }) => definition.streamRequestId === streamRequestId);
  await Promise.all(
    asked.map(({ id }) => engine.withdraw({ caller, id, reason: 'run_stopped' }).catch(() => undefined)),
  );
}
