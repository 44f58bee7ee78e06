import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../../turns/follow.ts';
import { notification } from './json-rpc.ts';

export type ProgressToken = string | number;

// Progress must rise; two events may come in one millisecond.
const STEP_SECONDS = 0.001;

/** The progress of one call, in seconds since it began, so that it rises whichever pod sends it. */
export function createProgress(token: ProgressToken | undefined, startedAt: number) {
  let last = 0;
  return {
    /** The notification; undefined where the client did not ask for it. */
    next(message: string) {
      if (token === undefined) return undefined;
      last = Math.max(last + STEP_SECONDS, (Date.now() - startedAt) / 1000);
      return notification('notifications/progress', { progressToken: token, progress: last, message });
    },
  };
}

export const WAITING = 'Waiting for an answer';
export const WORKING = 'Working';

/** What an event says about the progress of its call. */
export function progressMessage(event: FollowedEvent): string | undefined {
  if (event.type === 'question') return event.change === 'elicitation-request' ? WAITING : undefined;
  return event.type === 'turn' ? messageOf(event.event) : undefined;
}

function messageOf(event: TurnEvent): string | undefined {
  if (event.type === 'tool-called') return `Using ${event.title ?? event.toolName}`;
  if (event.type === 'tool-progress') return event.message ?? `${event.progress} of ${event.total ?? 'more'}`;
  return event.type === 'step-started' ? WORKING : undefined;
}
