import { endsTurn, type TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../../turns/follow.ts';

/** What the server of a call asks its client for. */
export type ClientAsked = Extract<TurnEvent, { readonly type: 'client-asked' }>;

/** What an event changes about the requests to a client. */
interface RequestChange {
  readonly asked?: ClientAsked;
  /** Requests to which no reply is needed any more. */
  readonly dropped: readonly ClientAsked[];
}

/** The requests to the client of a call that are open, as its events go by. */
export function createOpenRequests() {
  const open = new Map<string, ClientAsked>();
  const replied = new Set<string>();

  function drop(isDropped: (asked: ClientAsked) => boolean): ClientAsked[] {
    const dropped = [...open.values()].filter(isDropped);
    for (const { requestId } of dropped) open.delete(requestId);
    return dropped;
  }

  function turn(event: TurnEvent): RequestChange {
    switch (event.type) {
      case 'client-asked': {
        const { requestId } = event;
        if (open.has(requestId) || replied.has(requestId)) return { dropped: [] };
        open.set(requestId, event);
        return { asked: event, dropped: [] };
      }
      case 'client-ask-ended': {
        const ended = drop(({ requestId }) => requestId === event.requestId);
        return { dropped: event.isAnswered ? [] : ended };
      }
      // The pod of the call may have died before it said so.
      case 'tool-returned':
      case 'tool-failed':
        return { dropped: drop(({ toolCallId }) => toolCallId === event.toolCallId) };
      default:
        return { dropped: endsTurn(event) ? drop(() => true) : [] };
    }
  }

  return {
    open: () => [...open.values()],
    /** The client has replied: events that say otherwise are older. */
    replied(id: string) {
      replied.add(id);
      open.delete(id);
    },
    take(followed: FollowedEvent): RequestChange {
      if (followed.type === 'lost') open.clear();
      return followed.type === 'turn' ? turn(followed.event) : { dropped: [] };
    },
  };
}
