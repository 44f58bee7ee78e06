import type { StreamRef } from '../domain/ids.ts';
import type { PageRequest } from '../ports/elicitations/elicitations.ts';
import { type AnswerInput, answer } from './answer.ts';
import { type AskRequest, ask } from './asking/ask.ts';
import { createStreamClaims } from './asking/stream-claims.ts';
import { type Caller, readFor } from './caller.ts';
import { type CompleteInput, complete } from './complete.ts';
import type { EngineDeps } from './deps.ts';
import { expire } from './expire.ts';
import { type ExpireDueInput, expireDue } from './expire-due.ts';
import { type InboxInput, watchInbox } from './inbox.ts';
import { replay } from './replay.ts';
import { type SweepTurn, sweep, sweepInTurn } from './sweep.ts';
import { type WaitInput, wait } from './wait.ts';
import { type WatchInput, watch, watchLive } from './watch.ts';
import { type WithdrawRequest, withdraw } from './withdraw.ts';

export type Engine = ReturnType<typeof createEngine>;

/** The use cases, bound to one backend: the whole of what adapters see. */
export function createEngine(deps: EngineDeps) {
  const askDeps = { ...deps, streamClaims: createStreamClaims(deps.claims, deps.settings.retentionMs) };
  return {
    ask: (request: AskRequest) => ask(askDeps, request),
    answer: (input: AnswerInput) => answer(deps, input),
    complete: (input: CompleteInput) => complete(deps, input),
    withdraw: (request: WithdrawRequest) => withdraw(deps, request),
    expire: (id: string) => expire(deps, id),
    expireDue: (input: ExpireDueInput) => expireDue(deps, input),
    read: (caller: Caller, id: string) => readFor(deps, caller, id),
    list: (request: PageRequest) => deps.elicitations.page(request),
    wait: (input: WaitInput) => wait(deps, input),
    replay: (stream: StreamRef) => replay(deps, stream),
    watch: (input: WatchInput) => watch(deps, input),
    watchLive: (input: Omit<WatchInput, 'evenIfSilent'>) => watchLive(deps, input),
    watchInbox: (input: InboxInput) => watchInbox(deps, input),
    sweep: (signal?: AbortSignal) => sweep(deps, signal),
    sweepInTurn: (turn: SweepTurn, signal?: AbortSignal) => sweepInTurn(deps, turn, signal),
  };
}
