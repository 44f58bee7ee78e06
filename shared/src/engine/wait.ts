import { ParleyError } from '../domain/errors.ts';
import { isTerminal } from '../domain/status.ts';
import type { Wake } from '../domain/wake.ts';
import type { WakeSource } from '../ports/observer.ts';
import { type Bell, createBell } from './bell.ts';
import { type Caller, look, type Seen } from './caller.ts';
import type { EngineDeps } from './deps.ts';
import { expire } from './expire.ts';
import { OUTAGE_RETRY_MS, throughOutage } from './outage.ts';

export interface WaitInput {
  readonly caller: Caller;
  readonly id: string;
  /** Return the open elicitation after this long; without it, wait until it ends. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Sleeps until the elicitation ends, or `timeoutMs` passes. Subscribes, then reads, then sleeps, so that no answer
 * falls between; rides out an outage of Redis until its own time. Throws `unavailable` only when Redis is still away
 * at the deadline plus grace, and the signal's reason when aborted.
 */
export async function wait(deps: EngineDeps, input: WaitInput): Promise<Seen> {
  const first = await look(deps, input.caller, input.id);
  if (isTerminal(first.row.status) || input.timeoutMs === 0) return first;
  const bell = createBell(input.signal);
  const hint: { wake?: Wake } = {};
  const subscription = deps.wakes.subscribe(first.row.definition, (signal) => {
    if (signal.type === 'event') {
      if (signal.event.elicitationId !== input.id) return;
      hint.wake = signal.event;
    }
    bell.ring();
  });
  try {
    return await sleep(deps, input, { first, bell, hint });
  } finally {
    subscription.unsubscribe();
    bell.close();
  }
}

interface Sleeper {
  readonly first: Seen;
  readonly bell: Bell;
  readonly hint: { readonly wake?: Wake };
}

async function sleep(deps: EngineDeps, input: WaitInput, { first, bell, hint }: Sleeper): Promise<Seen> {
  const startedAt = performance.now();
  const until = startedAt + (input.timeoutMs ?? Number.POSITIVE_INFINITY);
  const times = {
    deadline: startedAt + (first.row.expiresAt - first.now),
    recheck: startedAt + deps.settings.recheckMs,
  };
  const giveUpAt = times.deadline + deps.settings.graceMs;
  let seen = first;
  for (;;) {
    const heard = await bell.heard(Math.min(until, times.deadline, times.recheck));
    const told = toldBy(hint.wake, seen);
    if (told !== undefined) return resumed(deps, told, 'push');

    const read = await lookAgain(deps, input, times);
    seen = read ?? seen;
    if (isTerminal(seen.row.status)) return resumed(deps, seen, heard === 'ring' ? 'read' : 'sweep');
    if (performance.now() >= until) return seen;
    if (read === undefined && performance.now() >= giveUpAt) throw stillAway();
  }
}

/** Expires what is due, then reads; says when to look next. Nothing when Redis was away. */
async function lookAgain(
  deps: EngineDeps,
  input: WaitInput,
  times: { deadline: number; recheck: number },
): Promise<Seen | undefined> {
  if (performance.now() >= times.deadline) {
    const result = await throughOutage(() => expire(deps, input.id));
    const againInMs = result?.type === 'early' ? result.remainingMs : OUTAGE_RETRY_MS;
    times.deadline = performance.now() + againInMs;
  }
  const read = await throughOutage(() => look(deps, input.caller, input.id));
  times.recheck = performance.now() + (read === undefined ? OUTAGE_RETRY_MS : deps.settings.recheckMs);
  return read;
}

function stillAway(): ParleyError {
  return new ParleyError(
    'unavailable',
    'The deadline passed while Redis was away; read the elicitation again.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** The row as its wake tells it, when the wake tells enough; a missing or older revision tells nothing. */
function toldBy(wake: Wake | undefined, { row }: Seen): Seen | undefined {
  if (wake === undefined || wake.revision <= row.revision) return undefined;
  if (!isTerminal(wake.status) || wake.settlement === undefined) return undefined;
  const { status, revision, settlement, at } = wake;
  return {
    row: { ...row, status, revision, settlement, settledAt: at },
    now: at,
  };
}

function resumed(deps: EngineDeps, seen: Seen, source: WakeSource): Seen {
  deps.observer.resumed(seen.row, source);
  return seen;
}
