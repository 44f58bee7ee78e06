import { isRecord } from '@parley/shared/domain/plain-record';
import { type Elicitation, isElicitation } from '../elicitation.ts';
import type { Calls } from './calls.ts';
import { createEventReader } from './event-reader.ts';
import { createPauses, pause } from './pauses.ts';
import { Refusal } from './refusal.ts';

/** A connection that brings nothing for so long, not even a heartbeat (each 15 s), is dead. In ms. */
const SILENCE_MS = 45_000;

export interface StreamDeps {
  readonly calls: Calls;
  readonly retryMs: readonly [first: number, longest: number];
  /** All that waits for the person; comes first on every connection. */
  readonly onSnapshot: (open: readonly Elicitation[]) => void;
  readonly onChange: (news: Elicitation) => void;
  /** A connection could not be made, or ended before its snapshot. */
  readonly onFailure: () => void;
  /** A connection that brought news ended; another is made at once. */
  readonly onLoss: () => void;
}

/** Keeps one `GET /v1/inbox/events` open, over as many connections as it takes, until the signal is aborted. */
export async function keepStream(deps: StreamDeps, signal: AbortSignal): Promise<void> {
  const pauses = createPauses(deps.retryMs);
  while (!signal.aborted) {
    let wasLive = false;
    let retryAfterSeconds: number | undefined;
    try {
      await readStream(deps, signal, () => {
        wasLive = true;
        pauses.reset();
      });
    } catch (error) {
      if (error instanceof Refusal) retryAfterSeconds = error.retryAfterSeconds;
    }
    if (signal.aborted) return;
    if (wasLive) deps.onLoss();
    else deps.onFailure();
    await pause(pauses.next(retryAfterSeconds), signal);
  }
}

async function readStream(deps: StreamDeps, outer: AbortSignal, onLive: () => void): Promise<void> {
  const connection = new AbortController();
  const signal = AbortSignal.any([outer, connection.signal]);
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => connection.abort(), SILENCE_MS);
  };
  const read = createEventReader((event, data) => {
    if (signal.aborted) return;
    const value = parsed(data);
    if (event === 'inbox-snapshot' && isRecord(value) && Array.isArray(value.elicitations)) {
      onLive();
      deps.onSnapshot(value.elicitations.filter(isElicitation));
    } else if (isElicitation(value)) {
      // Whatever the event is called: what it tells is the elicitation as it is now.
      deps.onChange(value);
    }
  });
  try {
    const { body } = await deps.calls.open({ path: '/v1/inbox/events' }, signal, 'text/event-stream');
    if (body === null) return;
    const reader = body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      heard();
      const { done, value } = await reader.read();
      if (done) return;
      read(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
