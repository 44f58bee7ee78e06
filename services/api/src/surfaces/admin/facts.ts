/** Collects the facts that explain a record or a turn. The explanations are made in `shared/src/domain/why`. */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import {
  bucketOf,
  formatStreamPath,
  isMintedStream,
  type Owner,
  type StreamRef,
} from '@parley/core/domain/ids';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { DETACHED, type Run, type RunHead } from '@parley/shared/domain/runs/run';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import type {
  DeliveryFacts,
  HolderFacts,
  PersonFacts,
  RecordFacts,
  RunFacts,
  WaitFacts,
  WhyFacts,
} from '@parley/shared/domain/why/facts';
import type { OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { SUBSCRIBING_KINDS } from '@parley/shared/ports/delivery/subscriptions';
import type { StoredRecord } from '@parley/shared/ports/elicitations/elicitations';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import { delegatesOf } from '@parley/shared/runs/stop';
import { keyOfOwner } from '../../turns/principal.ts';
import { podOf } from '../../turns/timeline.ts';
import type { AdminDeps } from './deps.ts';
import { seeTurns } from './load.ts';

type FactsDeps = Pick<
  AdminDeps,
  'engine' | 'records' | 'runs' | 'heartbeats' | 'outbox' | 'deadLetters' | 'streamsOf' | 'channel'
>;

/** The facts that explain a record: the record, its person, the turn that asked, and outstanding deliveries. */
export async function factsOfRecord(deps: FactsDeps, record: StoredRecord, now: number): Promise<WhyFacts> {
  const { definition } = record.row;
  const facts = recordFacts(record);
  const [person, run, deliveries] = await Promise.all([
    personFacts(deps, record, now),
    isMintedStream(definition.streamRequestId) ? runFacts(deps, definition) : undefined,
    deliveriesOfRecord(deps, record),
  ]);
  const resuming = run === undefined ? [] : await outstanding(deps, [resumeTask(definition, run.term)]);
  return { now, record: facts, run: run?.facts, person, deliveries: [...deliveries, ...resuming] };
}

/** The facts that explain a turn; undefined if there is no such turn. */
export async function factsOfTurn(deps: FactsDeps, stream: StreamRef): Promise<WhyFacts | undefined> {
  const run = await runFacts(deps, stream);
  if (run === undefined) return undefined;
  const subject = formatStreamPath(stream);
  const bucket = bucketOf(stream);
  const tasks = SUBSCRIBING_KINDS.map((kind) => ({ kind, subject, bucket }));
  const [streams, deliveries] = await Promise.all([
    deps.streamsOf(ownerOf(stream)),
    outstanding(deps, [...tasks, resumeTask(stream, run.term)]),
  ]);
  const person = keyOfOwner(stream) === undefined ? { name: stream.userId, streams } : undefined;
  return { now: run.now, run: run.facts, person, deliveries };
}

function recordFacts(record: StoredRecord): RecordFacts {
  const { status, createdAt, expiresAt, settledAt, settlement, definition } = record.row;
  const common = {
    name: definition.userId,
    status,
    createdAt,
    expiresAt,
    settledAt,
    surface: settlement?.surface,
  };
  const reason = status === 'withdrawn' ? settlement?.reason : undefined;
  if (record.family === 'approval')
    return {
      ...common,
      kind: 'approval',
      hasEnded: isApprovalEnded(record.row.status),
      trigger: 'approval',
      tool: record.row.definition.tool.name,
      reason,
    };
  const { trigger, toolName, toolId } = record.row.definition.context;
  return {
    ...common,
    kind: 'question',
    hasEnded: isTerminal(record.row.status),
    trigger,
    tool: toolName ?? toolId,
    reason,
  };
}

async function personFacts(deps: FactsDeps, { row }: StoredRecord, now: number): Promise<PersonFacts> {
  const { definition } = row;
  const owner = ownerOf(definition);
  const { notify } = definition;
  const [streams, isLinked, dueInMs] = await Promise.all([
    deps.streamsOf(owner),
    notify === undefined ? undefined : deps.channel?.isLinked(owner),
    notify === undefined ? undefined : deps.engine.notices.dueInMs(row, now),
  ]);
  return {
    name: definition.userId,
    streams,
    ...(notify !== undefined && { channel: { name: notify.channel, isLinked, dueInMs } }),
  };
}

interface FoundRun {
  readonly facts: RunFacts;
  readonly term: number;
  readonly now: number;
}

async function runFacts(deps: FactsDeps, stream: StreamRef): Promise<FoundRun | undefined> {
  const { tenant, userId, streamRequestId } = stream;
  const ref = { tenant, userId, streamRequestId };
  const [{ run, now }, heads] = await Promise.all([deps.runs.read(ref), deps.runs.heads([ref])]);
  const [seen] = await seeTurns(deps, heads);
  if (run === undefined || seen === undefined) return undefined;
  const { head, state } = seen;
  const isRunning = head.status === 'running';
  const facts: RunFacts = {
    streamRequestId,
    agent: head.agent,
    status: head.status,
    startedAt: head.startedAt,
    endedAt: head.endedAt,
    holder: holderOf(head, state === 'running'),
    isStopping: head.isStopping === true,
    takeOvers: head.takeOvers,
    waits: isRunning ? await waitsOf(deps, run) : [],
    calls: isRunning ? callsOf(run) : [],
    parent: head.parent?.streamRequestId,
  };
  return { facts, term: head.term, now };
}

function holderOf({ owner, restsUntil }: RunHead, isAlive: boolean): HolderFacts {
  const { pod } = podOf(owner);
  if (pod !== undefined) return { type: 'pod', pod, isAlive };
  return owner === DETACHED ? { type: 'detached', restsUntil } : { type: 'queued' };
}

async function waitsOf({ records }: FactsDeps, { pauses }: Run): Promise<WaitFacts[]> {
  const open = pauses.filter(({ resumedAt }) => resumedAt === undefined);
  const read = await records.readMany(open.map(({ elicitationId }) => elicitationId));
  return open.map(({ elicitationId, trigger, pausedAt }, at) => {
    const row = read.records[at]?.row;
    const isOpen = row !== undefined && row.settledAt === undefined;
    return { id: elicitationId, trigger, since: pausedAt, ...(isOpen && { openUntil: row.expiresAt }) };
  });
}

/** The calls for which the run waits, except those that wait for a person. */
function callsOf(run: Run): RunFacts['calls'] {
  const waiting = new Set(
    run.pauses.map(({ toolCallId, resumedAt }) => (resumedAt === undefined ? toolCallId : '')),
  );
  const delegates = new Set(delegatesOf(run).map(({ streamRequestId }) => streamRequestId));
  return run.calls
    .filter(({ state, toolCallId }) => state === 'dispatched' && !waiting.has(toolCallId))
    .map(({ toolCallId, toolName, run: delegate }) => ({
      toolName,
      since: run.times.calls.get(toolCallId)?.[0].at ?? run.startedAt,
      delegate: delegate !== undefined && delegates.has(delegate) ? delegate : undefined,
    }));
}

async function deliveriesOfRecord(deps: FactsDeps, { family, row }: StoredRecord): Promise<DeliveryFacts[]> {
  const { id, definition } = row;
  const bucket = bucketOf(definition);
  const tasks = SUBSCRIBING_KINDS.map((kind) => ({ kind, subject: id, bucket }));
  const [found, letter] = await Promise.all([
    outstanding(deps, [webhookTask(id, bucket), ...tasks]),
    family === 'elicitation' ? deps.deadLetters.read(definition.tenant, webhookIdOf(id)) : undefined,
  ]);
  if (letter === undefined) return found;
  const { attempts, lastError, lastStatus, diedAt } = letter;
  return [...found, { kind: 'webhook', state: 'dead', attempts, lastError, lastStatus, diedAt }];
}

async function outstanding({ outbox }: FactsDeps, tasks: readonly OutboxTask[]): Promise<DeliveryFacts[]> {
  const found = await Promise.all(tasks.map((task) => outbox.find(task)));
  return tasks.flatMap(({ kind }, at) => {
    const standing = found[at];
    return standing === undefined ? [] : [{ kind, state: 'outstanding' as const, ...standing }];
  });
}

function ownerOf({ tenant, userId }: Owner): Owner {
  return { tenant, userId };
}
