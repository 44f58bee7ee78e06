/**
 * Binds the use cases of elicitations and approvals to one back end: the only interface that adapters see. It contains no rule;
 * each use case has its own file.
 */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { isApprovalId, type StreamRef } from '@parley/core/domain/ids';
import { APPROVALS } from '../domain/approvals/family.ts';
import type { ApprovalTypes } from '../domain/approvals/types.ts';
import type { Caller } from '../domain/caller.ts';
import { ELICITATIONS } from '../domain/elicitations/family.ts';
import type { ElicitationTypes } from '../domain/elicitations/types.ts';
import type { PageRequest, StoredRecord, StoredRecords } from '../ports/elicitations/elicitations.ts';
import type { FeedBeginning } from '../ports/elicitations/feed.ts';
import type { EngineDeps } from '../records/deps.ts';
import type { ExpireResult } from '../records/expire.ts';
import { expireAny, expireTogether } from '../records/expire-any.ts';
import { type ExpireDueInput, expireDue } from '../records/expire-due.ts';
import { type ExtendRequest, extendRecord } from '../records/extend.ts';
import { approvalDeps, elicitationDeps } from '../records/family-deps.ts';
import type { Turn } from '../records/in-turn.ts';
import { createKnownRows } from '../records/known-rows.ts';
import { createExpiringNote, createLeaveToAskers } from '../records/leave-to-askers.ts';
import { readRecord } from '../records/read.ts';
import { storesOfShown } from '../records/shown-rows.ts';
import { type WaitInput, wait } from '../records/wait.ts';
import { type WithdrawRequest, withdraw } from '../records/withdraw.ts';
import { type AnswerInput, answer } from './answer.ts';
import { type DecideInput, decide } from './approvals/decide.ts';
import { createGrants } from './approvals/grants.ts';
import { type ApprovalRequest, findRequested, requestApproval } from './approvals/request.ts';
import { type AskRequest, ask } from './asking/ask.ts';
import { createStreamClaims } from './asking/stream-claims.ts';
import { type CompleteInput, complete } from './complete.ts';
import { type InboxInput, watchInbox } from './inbox.ts';
import { newestEvents, replayItems } from './joined-feed.ts';
import { createNotices } from './notices.ts';
import { replay } from './replay.ts';
import { sweep, sweepInTurn } from './sweep.ts';
import { type WatchInput, watch, watchLive } from './watch.ts';

export type Engine = ReturnType<typeof createEngine>;

/** The part of the engine that agents use. */
export type AgentEngine = Pick<Engine, 'ask' | 'wait' | 'withdraw' | 'withdrawRecord' | 'approvals'>;

/** A recently read record of any family, and the Redis clock. */
export type SeenStored = StoredRecord & { readonly now: number };

/** Withdraws a record of any family. */
export interface WithdrawRecord extends Omit<WithdrawRequest<ElicitationTypes>, 'seen'> {
  readonly seen?: SeenStored;
}

/** Moves the deadline of a record of any family. */
export interface ExtendStored extends Omit<ExtendRequest<ElicitationTypes>, 'seen'> {
  readonly seen: SeenStored;
}

/** All use cases, bound to one back end. */
export function createEngine(deps: EngineDeps) {
  const rows = createKnownRows(deps.settings.knownBytesMax);
  const known = {
    questions: rows.of<ElicitationTypes>(ELICITATIONS),
    approvals: rows.of<ApprovalTypes>(APPROVALS),
  };
  const shown = storesOfShown(deps, known);
  const questions = elicitationDeps(deps, known.questions);
  const approvals = approvalDeps(deps, known.approvals);
  const streamClaims = createStreamClaims(deps.claims, deps.settings.retentionMs);
  const grants = createGrants(deps.ownerRecords.grants, deps.settings.retentionMs);
  const askDeps = { ...deps, questions, streamClaims };
  const shownQuestions = { family: ELICITATIONS, records: shown.elicitations };
  const shownApprovals = { family: APPROVALS, records: shown.approvals };
  const leaveToAskers = createLeaveToAskers(deps.elicitations);
  const allDeps = { ...deps, records: shown.records, families: { questions, approvals }, leaveToAskers };
  const noteExpiring = createExpiringNote(deps.elicitations);

  async function withdrawRecord({ seen, ...request }: WithdrawRecord): Promise<void> {
    if (isApprovalId(request.id))
      await withdraw(approvals, { ...request, ...(seen?.family === 'approval' && { seen }) });
    else await withdraw(questions, { ...request, ...(seen?.family === 'elicitation' && { seen }) });
  }

  /** Moves the deadline of a record of any family. */
  async function extendAny({ seen, ...request }: ExtendStored): Promise<void> {
    if (seen.family === 'approval') await extendRecord(approvals, { ...request, seen });
    else await extendRecord(questions, { ...request, seen });
  }

  /** Whether a record of any family is still open. Throws `not_found`. */
  async function isOpen(caller: Caller, id: string): Promise<boolean> {
    if (isApprovalId(id)) return !isApprovalEnded((await readRecord(approvals, caller, id)).row.status);
    return !isTerminal((await readRecord(questions, caller, id)).row.status);
  }

  return {
    ask: (request: AskRequest) => ask(askDeps, request),
    answer: (input: AnswerInput) => answer(questions, input),
    complete: (input: CompleteInput) => complete(questions, input),
    withdraw: (request: WithdrawRequest<ElicitationTypes>) => withdraw(questions, request),
    withdrawRecord,
    extend: (request: ExtendRequest<ElicitationTypes>) => extendRecord(questions, request),
    extendRecord: extendAny,
    isOpen,
    expire: (id: string) => expireAny(allDeps, id),
    /** Expires the records whose timers fired. Returns, for each that was too early, the ms until its deadline. */
    async expireFired(ids: readonly string[]) {
      // A note to other processes costs a command, and a single record expires before any other process looks.
      if (ids.length > 1) noteExpiring();
      return earlyOf((await expireTogether(allDeps, ids)).results);
    },
    expireDue: (input: ExpireDueInput) => expireDue(allDeps, input),
    read: (caller: Caller, id: string) => readRecord(shownQuestions, caller, id),
    list: (request: PageRequest) => shown.elicitations.page(request),
    openRecords: (request: Parameters<StoredRecords['openPage']>[0]) => shown.records.openPage(request),
    /** For pages that find a question by its id and check themselves who may see it. */
    shown,
    wait: (input: WaitInput<ElicitationTypes>) => wait(questions, input),
    replay: (stream: StreamRef) => replay(allDeps, stream),
    replayItems: (stream: StreamRef, beginning?: FeedBeginning) => replayItems(allDeps, stream, beginning),
    newestEvents: (stream: StreamRef) => newestEvents(deps, stream),
    watch: (input: WatchInput) => watch(allDeps, input),
    watchLive: (input: Omit<WatchInput, 'evenIfSilent'>) => watchLive(allDeps, input),
    watchInbox: (input: InboxInput) => watchInbox(allDeps, input),
    /** When channels notify people of records that they have not seen. */
    notices: createNotices(deps.ownerRecords.seen),
    sweep: (signal?: AbortSignal) => sweep(allDeps, signal),
    sweepInTurn(turn: Turn, signal?: AbortSignal) {
      rows.purge();
      return sweepInTurn(allDeps, turn, signal);
    },
    /** Approvals: tool calls that wait for a person's decision. */
    approvals: {
      request: (request: ApprovalRequest) => requestApproval(deps, approvals, request),
      /** Finds the approval that was requested under a key. */
      find: (request: Parameters<typeof findRequested>[2]) => findRequested(deps, approvals, request),
      decide: (input: DecideInput) => decide(approvals, grants, input),
      withdraw: (request: WithdrawRequest<ApprovalTypes>) => withdraw(approvals, request),
      extend: (request: ExtendRequest<ApprovalTypes>) => extendRecord(approvals, request),
      read: (caller: Caller, id: string) => readRecord(shownApprovals, caller, id),
      list: (request: PageRequest<ApprovalTypes>) => shown.approvals.page(request),
      wait: (input: WaitInput<ApprovalTypes>) => wait(approvals, input),
      /** Remembered approvals. */
      grants,
    },
  };
}

function earlyOf(results: ReadonlyMap<string, ExpireResult>): ReadonlyMap<string, number> {
  const early = new Map<string, number>();
  for (const [id, result] of results) if (result.type === 'early') early.set(id, result.remainingMs);
  return early;
}
