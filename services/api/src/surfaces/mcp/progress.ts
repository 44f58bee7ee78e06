import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../../turns/follow.ts';
import type { AnswerPage } from './deps.ts';
import { notification } from './json-rpc.ts';

export type ProgressToken = string | number;

// Progress must increase, and two events may come in the same millisecond.
const STEP_SECONDS = 0.001;

/** The progress of a call that began `ageMs` ago, in seconds since then, so that it increases whichever pod sends it. */
export function createProgress(token: ProgressToken | undefined, ageMs: number) {
  const startedAt = performance.now() - ageMs;
  let last = 0;
  return {
    /** The notification; undefined if the client did not ask for progress. */
    next(message: string) {
      if (token === undefined) return undefined;
      last = Math.max(last + STEP_SECONDS, (performance.now() - startedAt) / 1000);
      return notification('notifications/progress', { progressToken: token, progress: last, message });
    },
  };
}

export const WAITING = 'Waiting for an answer';

/**
 * The text about what a call waits for. If the client has not answered a form for a while, it names the form's page, because
 * the client may not show forms after all.
 */
export function waitingMessage(open: Iterable<WaitingQuestion>, page: AnswerPage | undefined): string {
  const late = [...open].find(
    ({ question: { mode, createdAt, serverTime }, seenAt }) =>
      mode === 'form' &&
      page !== undefined &&
      Date.parse(serverTime) - Date.parse(createdAt) + performance.now() - seenAt >= page.afterMs,
  );
  return late === undefined || page === undefined
    ? WAITING
    : `${WAITING}. It can be given here, too: ${page.baseUrl}${late.question.elicitationId}`;
}

/** A question, and when this pod received it, by `performance.now()`. */
export interface WaitingQuestion {
  readonly question: Elicitation;
  readonly seenAt: number;
}

export const WORKING = 'Working';

/** The progress message of an event. */
export function progressMessage(event: FollowedEvent): string | undefined {
  if (event.type === 'question') return event.change === 'elicitation-request' ? WAITING : undefined;
  return event.type === 'turn' ? messageOfTurn(event.event) : undefined;
}

/** The progress message of an event of the turn itself. */
export function messageOfTurn(event: TurnEvent): string | undefined {
  if (event.type === 'tool-called') return `Using ${event.title ?? event.toolName}`;
  if (event.type === 'tool-progress') return event.message ?? `${event.progress} of ${event.total ?? 'more'}`;
  if (event.type === 'client-asked') return WAITING;
  return event.type === 'step-started' ? WORKING : undefined;
}
