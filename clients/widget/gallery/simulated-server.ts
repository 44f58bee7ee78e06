import {
  type Answer,
  type Connection,
  type Elicitation,
  type ElicitationServer,
  isOpen,
} from '../src/index.ts';
import { Refusal } from '../src/server.ts';

/** How the simulated server replies to answers. */
export type ServerBehaviour =
  | 'takes'
  /** Never replies, so that the state `sending` stays visible. */
  | 'hangs'
  /** Refuses a valid answer, with a field error. */
  | 'refuses'
  | 'limits'
  /** Cannot be reached. */
  | 'offline'
  /** Reports, once followed, that the question was settled elsewhere. */
  | 'elsewhere'
  | 'gone';

const REPLY_MS = 900;
/** Rejects reads of approvals, because cards of questions have none. */
const none = () => Promise.reject(new Refusal({ status: 404, code: 'not_found' }));

/** A server inside the page, for one card. Its clock is that of the page. */
export function simulateServer(first: Elicitation, play: ServerBehaviour): ElicitationServer {
  let view = first;
  const listeners = new Set<(next: Elicitation) => void>();
  const settle = (status: Elicitation['status']) => {
    view = { ...view, status, serverTime: new Date().toISOString() };
    for (const listener of listeners) listener(view);
    return view;
  };
  const finish = (answer: Answer): Elicitation => {
    if (answer.action === 'decline') return settle('declined');
    if (answer.action === 'cancel') return settle('cancelled');
    if (view.mode === 'form' || view.completion === 'client') return settle('accepted');
    setTimeout(() => isOpen(view) && settle('accepted'), 10 * REPLY_MS);
    return settle('opened');
  };
  return {
    now: () => Date.now(),
    noteTime: () => undefined,
    read: () => Promise.resolve(view),
    async answer(_, answer) {
      if (play === 'hangs') return new Promise<never>(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, play === 'refuses' ? 0 : REPLY_MS));
      const refused = refusalOf(play, view);
      if (refused !== undefined && answer.action === 'accept') throw refused;
      return finish(answer);
    },
    follow(_, listener, onConnection?: (state: Connection) => void, onGone?: () => void) {
      listeners.add(listener);
      setTimeout(() => {
        onConnection?.(play === 'offline' ? 'offline' : 'live');
        if (play === 'elsewhere') settle('accepted');
        if (play === 'gone') onGone?.();
      });
      return () => void listeners.delete(listener);
    },
    followInbox: () => () => undefined,
    readApproval: none,
    decide: none,
    followApproval: () => () => undefined,
    followApprovals: () => () => undefined,
    listRemembered: none,
    revokeRemembered: none,
    close: () => undefined,
  };
}

function refusalOf(play: ServerBehaviour, view: Elicitation): Refusal | undefined {
  if (play === 'offline') return new Refusal({ status: 0, code: 'offline' });
  if (play === 'limits') return new Refusal({ status: 429, code: 'rate_limited', retryAfterSeconds: 12 });
  if (play !== 'refuses') return undefined;
  const [path = ''] = Object.keys((view.requestedSchema?.properties as object | undefined) ?? {});
  return new Refusal({
    status: 422,
    code: 'invalid_answer',
    errors: [{ path, message: 'is not known to the booking system' }],
  });
}
