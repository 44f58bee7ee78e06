/**
 * Runs a workflow: it replays what is recorded and continues from there. The program's own types are in `program.ts`, and
 * storing entries is in `record.ts`.
 */

import { createRandomId, isParleyClientError } from '@parley/core';
import { isRecord } from '@parley/core/domain/plain-record';
import type { Elicitor } from '../elicit/elicitor.ts';
import { type Attempt, NobodyCanAskError } from '../elicit/outcome.ts';
import { digestOf, digestOfAsk } from './digest.ts';
import { NotAnsweredError, StepFailedError, WorkflowChangedError } from './errors.ts';
import type { Workflow, WorkflowRequest } from './program.ts';
import { createMemoryRecord, type WorkflowEntry, type WorkflowRecord } from './record.ts';

export interface RunWorkflowOptions {
  /** How to ask: over Parley, an MCP client, an ACP editor or a terminal. */
  readonly elicitor: Elicitor;
  /**
   * The record of what was done. With a record on Parley and a Parley handler, the run continues after a restart.
   * @default none
   */
  readonly record?: WorkflowRecord;
  /** Ends the run when aborted; it then rejects with the signal's reason. Questions on Parley stay open for the next run. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a workflow to its end and resolves with its result. With a record, recorded steps and questions are not
 * repeated: the program is replayed with their results and answers. Rejects with what the program throws, or with
 * WorkflowChangedError if the program does something other than what was recorded.
 *
 * @example
 * await runWorkflow(onboarding, { elicitor, record: createParleyRecord({ baseUrl, token, workflowId, userId }) });
 */
export async function runWorkflow<Result>(
  program: () => Workflow<Result>,
  { elicitor, record, signal }: RunWorkflowOptions,
): Promise<Result> {
  const running = program();
  const parts = {
    elicitor,
    record: record ?? createMemoryRecord(createRandomId()),
    signal,
    isDurable: record !== undefined,
  };
  try {
    let next = await running.next();
    let position = 0;
    for (; !next.done; position += 1) {
      signal?.throwIfAborted();
      const done = await fulfil(next.value, position, parts);
      next = 'value' in done ? await running.next(done.value) : await running.throw(done.thrown);
    }
    await checkEnd(parts, position);
    return next.value;
  } catch (error) {
    await runFinally(running);
    throw error;
  }
}

/**
 * Runs the `finally` blocks of a program whose run ended early. What it yields there is not done, and its errors are ignored.
 */
async function runFinally(running: Workflow<unknown>): Promise<void> {
  try {
    await running.return(undefined);
  } catch {
    // Only the error that ended the run is reported.
  }
}

/** A program that ends where the recorded one asked or ran a step is a different program. */
async function checkEnd({ record, signal }: Parts, position: number): Promise<void> {
  const found = await record.read(position, signal).catch((error: unknown) => {
    // The position is beyond the last possible entry, so none is recorded there.
    if (isParleyClientError(error, 'too_large')) return undefined;
    throw error;
  });
  if (found !== undefined) throw new WorkflowChangedError(record.workflowId, position, describe(found));
}

interface Parts {
  readonly elicitor: Elicitor;
  readonly record: WorkflowRecord;
  readonly signal: AbortSignal | undefined;
  readonly isDurable: boolean;
}

/**
 * What the yield returns or throws. All other failures end the run, because the program could not react to them the same way at
 * a replay.
 */
type Done = { readonly value: unknown } | { readonly thrown: Error };

function fulfil(request: WorkflowRequest, position: number, parts: Parts): Promise<Done> {
  return 'ask' in request ? fulfilAsk(request, position, parts) : fulfilStep(request, position, parts);
}

async function fulfilAsk(
  request: Extract<WorkflowRequest, { ask: unknown }>,
  position: number,
  { elicitor, record, signal, isDurable }: Parts,
): Promise<Done> {
  const { workflowId } = record;
  const entry = { kind: 'ask', name: await digestOfAsk(request.ask) } as const;
  check(record, position, entry, await record.write(position, entry, signal));
  const key = isDurable ? { key: await keyOf(record, position) } : {};
  const asking = elicitor.ask(request.ask, { ...key, ...(signal !== undefined && { signal }) });
  const outcome = await asking.catch((error: unknown) => {
    // The key already stands for another question, for example of another person.
    const isOther = ({ error: cause }: Attempt) => isParleyClientError(cause, 'idempotency_mismatch');
    if (error instanceof NobodyCanAskError && error.attempts.some(isOther))
      throw new WorkflowChangedError(workflowId, position, 'another question was asked');
    throw error;
  });
  if (request.outcome === true) return { value: outcome };
  return outcome.status === 'accepted' || outcome.status === 'defaulted'
    ? { value: outcome.value }
    : { thrown: new NotAnsweredError(outcome) };
}

async function fulfilStep(
  { step: name, run }: Extract<WorkflowRequest, { step: unknown }>,
  position: number,
  { record, signal }: Parts,
): Promise<Done> {
  const recorded = await record.read(position, signal);
  if (recorded !== undefined) return resultOf(record, { position, name }, recorded);
  let result: unknown;
  let cause: unknown;
  try {
    result = { ok: true, value: await run({ key: await keyOf(record, position) }) };
  } catch (error) {
    cause = error;
    result = { ok: false, reason: error instanceof Error ? error.message : 'unknown' };
  }
  return resultOf(
    record,
    { position, name },
    await writeStep(record, position, { name, result }, signal),
    cause,
  );
}

/**
 * Records a finished step. If its result is too large to be stored, a failure is recorded instead, so that the step is not
 * repeated.
 */
async function writeStep(
  record: WorkflowRecord,
  position: number,
  step: Omit<WorkflowEntry, 'kind'>,
  signal: AbortSignal | undefined,
): Promise<WorkflowEntry> {
  const entry = { kind: 'step', ...step } as const;
  try {
    return await record.write(position, entry, signal);
  } catch (error) {
    if (!isParleyClientError(error, 'too_large')) throw error;
    return record.write(position, { ...entry, result: { ok: false, reason: 'too_large' } }, signal);
  }
}

const USER_DIGITS = 32;

/** The key of a position. It includes the person, because the records of two people may have the same `workflowId`. */
async function keyOf({ workflowId, userId }: WorkflowRecord, position: number): Promise<string> {
  const user = userId === undefined ? '' : `.${(await digestOf(userId)).slice(0, USER_DIGITS)}`;
  return `wf.${workflowId}${user}.${position}`;
}

function resultOf(
  record: WorkflowRecord,
  { position, name }: { readonly position: number; readonly name: string },
  recorded: WorkflowEntry,
  cause?: unknown,
): Done {
  check(record, position, { kind: 'step', name }, recorded);
  const { result } = recorded;
  if (isRecord(result) && result.ok === true) return { value: result.value };
  const reason = isRecord(result) ? String(result.reason) : 'unknown';
  return { thrown: new StepFailedError(name, reason, cause === undefined ? undefined : { cause }) };
}

function check(
  { workflowId }: WorkflowRecord,
  position: number,
  wanted: WorkflowEntry,
  found: WorkflowEntry,
): void {
  if (found.kind === wanted.kind && found.name === wanted.name) return;
  throw new WorkflowChangedError(workflowId, position, describe(found));
}

function describe({ kind, name }: WorkflowEntry): string {
  return kind === 'ask' ? 'it asked another question' : `it ran the step ${name}`;
}
