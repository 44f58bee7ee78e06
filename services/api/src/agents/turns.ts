import { randomUUID } from 'node:crypto';
import { isParleyError, ParleyError } from '@parley/shared/domain/errors';
import { mintStreamRequestId, type StreamRef } from '@parley/shared/domain/ids';
import type { ConversationRef, Message, RunRef } from '@parley/shared/domain/run';
import type { Engine } from '@parley/shared/engine/engine';
import { untilBack } from '@parley/shared/engine/outage';
import type { Conversations } from '@parley/shared/ports/conversations';
import type { Heartbeats } from '@parley/shared/ports/heartbeats';
import type { RunQueue } from '@parley/shared/ports/run-queue';
import type { BeginResult, NewRun, Runs } from '@parley/shared/ports/runs';
import type { Agents } from './agents.ts';
import { type CommissionDeps, takeCommission, workOnCommission } from './commissions.ts';
import { createDelegate } from './delegate.ts';
import { stopDelegates } from './delegate-follow.ts';
import { withdrawLeft } from './leftovers.ts';
import { createLostRuns } from './lost-runs.ts';
import type { TurnObserver } from './observer.ts';
import { RHYTHM, type Rhythm, startPulse } from './pulse.ts';
import { runTurn } from './run.ts';
import { breakTurn, TurnInterruptedError } from './run-end.ts';
import { createRunWriter, type RunWriter } from './run-writer.ts';
import type { Support } from './tool.ts';

const BEGIN_TRIES = 5;

export interface TurnsDeps {
  readonly engine: Engine;
  readonly runs: Runs;
  readonly conversations: Conversations;
  readonly heartbeats: Heartbeats;
  /** Runs of delegates that any pod may do: this one offers its own there, and takes them. Absent: each pod does its own. */
  readonly runQueue?: RunQueue;
  readonly agents: Agents;
  readonly observer: TurnObserver;
  /** Name of this pod, for people; each start of it is an owner of its own. */
  readonly pod: string;
  /** Told of what ended a turn in an error. */
  readonly onFault: (error: unknown, run: StreamRef) => void;
  readonly rhythm?: Rhythm;
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
  /** The turn that runs in a conversation, on whichever pod; also one that was found lost, whose stream says so. */
  running(conversation: ConversationRef): Promise<StreamRef | undefined>;
  /** Stops the running turn, on whichever pod; its open questions are withdrawn. False when none runs. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /**
   * While somebody reads a turn: should its pod die, it is ended within seconds, and the reader hears that. To be
   * called when the reader leaves.
   */
  attend(stream: StreamRef): () => void;
  /** Ends all turns of this pod as interrupted, takes back what they asked, and resolves once that is done. */
  close(): Promise<void>;
}

interface RunningHere {
  readonly stopping: AbortController;
  readonly done: Promise<void>;
}

/** Makes the host of the turns of one pod. */
export function createTurns(deps: TurnsDeps): Turns {
  const { engine, runs, conversations } = deps;
  const owner = `${deps.pod}/${randomUUID()}`;
  /** By stream request: Parley mints those, so no two are alike. A run is here before its record says so. */
  const here = new Map<string, RunningHere>();
  const pulse = startPulse(deps.heartbeats, owner, deps.rhythm ?? RHYTHM, () => void lost.lookAround());
  const lost = createLostRuns({
    ...deps,
    owner,
    isHere: (streamRequestId) => here.has(streamRequestId),
    isDead: (other) => pulse.isDead(other),
  });
  const host: Host = {
    ...deps,
    owner,
    attend: (run) => lost.attend(run),
    ...(deps.runQueue !== undefined && { offers: deps.runQueue }),
  };
  const consumer = deps.runQueue?.consume(take);
  let closing = false;

  async function begin(request: TurnRequest): Promise<RunRef> {
    const agent = deps.agents.find(request.agent);
    const run: RunRef = { ...request.conversation, streamRequestId: mintStreamRequestId() };
    // Whoever finds this turn running must find its pod alive.
    await pulse.beat();
    if (closing) throw goingAway();
    const stopping = new AbortController();
    const begun = beginOrClear(newRunOf(run, agent.id, owner, request));
    const done = begun
      .then((start) => work(host, { run, start, agent, request, stopped: stopping.signal }))
      .then(
        (ended) => ended,
        (error: unknown) => isParleyError(error, 'turn_running'),
      )
      .then((ended) => {
        here.delete(run.streamRequestId);
        // Whatever the record says, nobody works on it any more.
        if (!ended) lost.owe(run);
      });
    here.set(run.streamRequestId, { stopping, done });
    await begun;
    return run;
  }

  /** Works on a delegate's run that was offered to all pods, unless another pod does. */
  async function take(stream: StreamRef): Promise<void> {
    await pulse.beat();
    if (closing) throw goingAway();
    const taken = await takeCommission(host, stream);
    const { streamRequestId } = stream;
    if (taken === undefined || here.has(streamRequestId)) return;
    const stopping = new AbortController();
    if (closing) stopping.abort(new TurnInterruptedError());
    const done = workOnCommission(host, taken, stopping.signal).then((ended) => {
      here.delete(streamRequestId);
      if (!ended) lost.owe(stream);
    });
    here.set(streamRequestId, { stopping, done });
  }

  /** Begins the run; one that nobody works on does not stand in its way. */
  async function beginOrClear(run: NewRun): Promise<Begun> {
    for (let attempt = 0; attempt < BEGIN_TRIES; attempt += 1) {
      const result = await runs.begin(run);
      if (result.type === 'begun') return result;
      if ((await lost.look({ ...run, streamRequestId: result.streamRequestId })) === 'running') break;
    }
    throw new ParleyError('turn_running', 'A turn is running in this conversation; wait for it or stop it.');
  }

  async function find(
    conversation: ConversationRef,
  ): Promise<{ stream: StreamRef; isLost: boolean } | undefined> {
    const { tenant, userId } = conversation;
    const { running: streamRequestId } = await conversations.read(conversation);
    if (streamRequestId === undefined) return undefined;
    const stream = { tenant, userId, streamRequestId };
    const stands = await lost.look(stream);
    return stands === 'ended' ? undefined : { stream, isLost: stands === 'lost' };
  }

  return {
    begin,
    running: async (conversation) => (await find(conversation))?.stream,
    async stop(conversation) {
      const found = await find(conversation);
      if (found === undefined || found.isLost || !(await runs.stop(found.stream))) return false;
      here.get(found.stream.streamRequestId)?.stopping.abort();
      // On whichever pods they work: so nobody goes on when their questions come back.
      await stopDelegates(runs, found.stream);
      // Its own pod does that too; it may only hear of the stop by it.
      await withdrawLeft(engine, conversation, found.stream.streamRequestId);
      return true;
    },
    attend: (stream) => lost.attend(stream),
    async close() {
      closing = true;
      await consumer?.close();
      const all = [...here.values()];
      for (const { stopping } of all) stopping.abort(new TurnInterruptedError());
      await Promise.all(all.map(({ done }) => done));
      pulse.stop();
    },
  };
}

type Begun = BeginResult & { type: 'begun' };
type Host = TurnsDeps & CommissionDeps;

function newRunOf(run: RunRef, agent: string, owner: string, { input }: TurnRequest): NewRun {
  const { streamRequestId, conversationId } = run;
  const messageId = `msg_${streamRequestId.slice(3)}`;
  return { ...run, agent, owner, input, event: { type: 'turn-started', conversationId, messageId, agent } };
}

interface Work {
  readonly run: RunRef;
  readonly start: Begun;
  readonly agent: { readonly id: string; readonly title: string };
  readonly request: TurnRequest;
  readonly stopped: AbortSignal;
}

/** Sets a turn up and runs it. True once its end is written, by this pod or another one; never rejects. */
async function work(host: Host, { run, start, agent, request, stopped }: Work): Promise<boolean> {
  const { engine, runs, agents, observer } = host;
  const { support } = request;
  const startedAt = performance.now();
  observer.began(run);
  const onFault = (error: unknown) => host.onFault(error, run);
  const writer = createRunWriter({ runs, run, ...start });
  let { input } = request;
  try {
    const signal = AbortSignal.any([stopped, writer.lost]);
    const { messages } = await untilBack(() => host.conversations.read(run), signal);
    const history = fromFirstUser(messages);
    if (history.length === 0) input = await keepBefore(writer, request);
    const open = await agents.open(agent.id, run, signal);
    await runTurn({
      ...open,
      engine,
      writer,
      run,
      id: agent.id,
      title: agent.title,
      observer,
      support,
      history,
      input,
      stopped,
      delegate: createDelegate(host),
      withdrawLeft: () => untilBack(() => withdrawUnlessTaken(host, run, writer)),
      onFault,
    });
  } catch (error) {
    await breakTurn({ writer, stopped, onFault }, input, error);
  }
  const durationMs = Math.round(performance.now() - startedAt);
  observer.ended(run, { agent: agent.id, outcome: writer.outcome ?? 'failed', durationMs });
  return writer.outcome !== undefined;
}

/** What its client tells of the time before, for a conversation that Parley does not know: it is kept with the turn. */
async function keepBefore(writer: RunWriter, { before, input }: TurnRequest): Promise<readonly Message[]> {
  const told = fromFirstUser(before);
  if (told.length === 0) return input;
  const messages = [...told, ...input];
  await writer.keep([{ type: 'input', messages }]);
  return messages;
}

/** A history that was cut may begin in the middle of a turn, which models refuse. */
function fromFirstUser(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : messages.slice(first);
}

/** What a run asked is its new owner's, where it has one that goes on with it. */
async function withdrawUnlessTaken({ engine, runs }: Host, run: RunRef, writer: RunWriter): Promise<void> {
  if (writer.lost.aborted && (await runs.standing(run))?.status === 'running') return;
  await withdrawLeft(engine, run, run.streamRequestId);
}

function goingAway(): ParleyError {
  return new ParleyError('unavailable', 'This pod is going away; ask again.', { retryAfterSeconds: 1 });
}
