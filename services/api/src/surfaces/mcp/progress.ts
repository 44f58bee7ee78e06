import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../../turns/follow.ts';
import type { AnswerPage } from './deps.ts';
import { notification } from './json-rpc.ts';

export type ProgressToken = string | number;

// Progress must rise; two events may come in one millisecond.
const STEP_SECONDS = 0.001;

/** The progress of one call that began `ageMs` ago, in seconds since then, so that it rises whichever pod sends it. */
export function createProgress(token: ProgressToken | undefined, ageMs: number) {
  const startedAt = performance.now() - ageMs;
  let last = 0;
  return {
    /** The notification; undefined where the client did not ask for it. */
    next(message: string) {
      if (token === undefined) return undefined;
      last = Math.max(last + STEP_SECONDS, (performance.now() - startedAt) / 1000);
      return notification('notifications/progress', { progressToken: token, progress: last, message });
    },
  };
}

export const WAITING = 'Waiting for an answer';

/** What a call waits for. Names the page of a form that the client was shown a while ago: it may not show forms after all. */
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

/** A question, and when this pod got it, by `performance.now()`. */
export interface WaitingQuestion {
  readonly question: Elicitation;
  readonly seenAt: number;
}

export const WORKING = 'Working';

/** What an event says about the progress of its call. */
export function progressMessage(event: FollowedEvent): string | undefined {
  if (event.type === 'question') return event.change === 'elicitation-request' ? WAITING : undefined;
  return event.type === 'turn' ? messageOfTurn(event.event) : undefined;
}

/** What an event of the turn itself says about the progress of its call. */
export function messageOfTurn(event: TurnEvent): string | undefined {
  if (event.type === 'tool-called') return `Using ${event.title ?? event.toolName}`;
  if (event.type === 'tool-progress') return event.message ?? `${event.progress} of ${event.total ?? 'more'}`;
  if (event.type === 'client-asked') return WAITING;
  return event.type === 'step-started' ? WORKING : undefined;
}
