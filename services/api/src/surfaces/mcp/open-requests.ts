import { endsTurn, type TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../../turns/follow.ts';

/** A request of a call's server to the client. */
export type ClientAsked = Extract<TurnEvent, { readonly type: 'client-asked' }>;

/** The change that an event makes to the requests to a client. */
interface RequestChange {
  readonly asked?: ClientAsked;
  /** Requests that no longer need a reply. */
  readonly dropped: readonly ClientAsked[];
}

/** Tracks the open requests to a call's client, from the events of the call. */
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
      // The pod of the call may have died before it reported the end of the requests.
      case 'tool-returned':
      case 'tool-failed':
        return { dropped: drop(({ toolCallId }) => toolCallId === event.toolCallId) };
      default:
        return { dropped: endsTurn(event) ? drop(() => true) : [] };
    }
  }

  return {
    open: () => [...open.values()],
    /** Records that the client has replied. Older events that say otherwise are ignored. */
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
