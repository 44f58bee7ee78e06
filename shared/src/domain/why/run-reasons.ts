import type { RunFacts, WaitFacts } from './facts.ts';
import { atTime, inWords } from './times.ts';

/** Why a turn is as it is. Pure. */
export function runReasons(run: RunFacts, now: number): string[] {
  const began = `The turn ${run.streamRequestId} of the agent ${run.agent} began ${inWords(now - run.startedAt)} ago`;
  if (run.status !== 'running') {
    const { endedAt = run.startedAt } = run;
    return [`${began} and ${ENDINGS[run.status]} ${inWords(now - endedAt)} ago.`];
  }
  return [
    `${began} and ${run.isStopping ? 'was asked to stop' : 'has not ended'}.`,
    ...holderReasons(run, now),
    ...waitReasons(run, now),
    ...firstOf(
      run.calls.map((call) => callReason(call, now)),
      'calls',
    ),
    ...(run.parent === undefined ? [] : [`It works for the turn ${run.parent}.`]),
  ];
}

/** A turn may wait for hundreds of things. */
const LISTED_MAX = 10;

function firstOf(reasons: readonly string[], what: string): string[] {
  const more = reasons.length - LISTED_MAX;
  return more <= 0 ? [...reasons] : [...reasons.slice(0, LISTED_MAX), `So it is with ${more} more ${what}.`];
}

function callReason({ toolName, since, delegate }: RunFacts['calls'][number], now: number): string {
  return delegate === undefined
    ? `The call of ${toolName} was sent ${inWords(now - since)} ago and has not returned.`
    : `It waits for the turn ${delegate}, to which ${toolName} delegated ${inWords(now - since)} ago.`;
}

const ENDINGS = { finished: 'finished', failed: 'failed', stopped: 'was stopped' } as const;

function holderReasons({ holder, takeOvers, isStopping }: RunFacts, now: number): string[] {
  const died = takeOvers === 0 ? '' : ` ${takeOvers} of its pods died before.`;
  switch (holder.type) {
    case 'pod':
      return holder.isAlive
        ? [`The pod ${holder.pod} holds it${isStopping ? ' and ends it with its next write' : ''}.${died}`]
        : [`The pod ${holder.pod} that held it is gone: another one takes it over within seconds.${died}`];
    case 'queued':
      return [`No pod holds it: it waits until one has room.${died}`];
    case 'detached': {
      if (isStopping)
        return [
          `It is detached: no pod holds it, and a worker hands it to one that ends it; if it stays, no worker runs: resume it.${died}`,
        ];
      const { restsUntil } = holder;
      const rest = restsUntil === undefined ? '' : `, and ${atTime(restsUntil, now)} at the latest`;
      return [
        `It is detached: no pod holds it, and it goes on when what it waits for has ended${rest}.${died}`,
      ];
    }
  }
}

function waitReasons({ holder, waits, isStopping }: RunFacts, now: number): string[] {
  const reasons = firstOf(
    waits.map((wait) => waitReason(wait, now)),
    'waits',
  );
  const hasEnded = waits.some(({ openUntil }) => openUntil === undefined);
  if (holder.type === 'detached' && hasEnded && !isStopping)
    reasons.push(
      'A wait has ended, so a worker or a reader resumes it; if it stays, no worker runs: resume it.',
    );
  return reasons;
}

function waitReason({ id, trigger, since, openUntil }: WaitFacts, now: number): string {
  const asked = `It has waited for ${id} (${trigger}) for ${inWords(now - since)}`;
  return openUntil === undefined
    ? `${asked}, which has ended.`
    : `${asked}, which is open until ${atTime(openUntil, now).slice('at '.length)}.`;
}
