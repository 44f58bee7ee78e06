/**
 * The widget's HTTP calls, on the transport of `clients/core`, with the retries that suit a page. Caching and polling are in
 * the files beside it.
 */

import {
  type ApprovalChoice,
  type Answer as CoreAnswer,
  createTransport,
  followInbox,
  type InboxItem,
  listApprovals,
  listElicitations,
  listRememberedApprovals,
  RETRY_DEFAULTS,
  type RememberedApproval,
  readApproval,
  readElicitation,
  revokeRememberedApproval,
  type SseEvent,
  sendAnswer,
  sendDecision,
} from '@parley/core';
import { isRecord } from '@parley/core/domain/plain-record';
import { type Approval, isApproval } from '../approval.ts';
import { type Elicitation, isElicitation } from '../elicitation.ts';
import { isResultUnknown, Refusal, toRefusal } from './refusal.ts';
import type { Answer, ElicitationServerOptions } from './type.ts';

/** The maximum number of tries for an answer whose delivery is unknown. */
const ANSWER_TRIES = 4;
const ANSWERING = {
  triesMax: ANSWER_TRIES,
  giveUpMs: Number.POSITIVE_INFINITY,
  isRetryable: isResultUnknown,
  keepalive: true,
};
/** A decision is tried once, because minutes later the person may no longer want it. */
const DECIDING = { triesMax: 1, keepalive: true };

interface CallsOptions extends Pick<ElicitationServerOptions, 'getToken' | 'fetch'> {
  readonly baseUrl: string;
  /** First and longest delay before a retry, in ms. */
  readonly retryMs: readonly [first: number, longest: number];
  /** Called with the `serverTime` of each reply, and the reply's round trip in ms. */
  readonly onTime: (serverTime: string, roundTripMs: number) => void;
}

export interface OpenPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | undefined;
}

/** What the inbox stream delivers. */
interface InboxListener {
  /** Everything that is waiting for the person; the first event of every connection. */
  readonly onSnapshot: (elicitations: readonly Elicitation[], approvals: readonly Approval[]) => void;
  readonly onChange: (elicitation: Elicitation) => void;
  readonly onApproval: (approval: Approval) => void;
  /** The connection ended or could not be opened. Another try follows, not before the server's Retry-After. */
  readonly onDisconnect: (retryAfterSeconds: number | undefined) => void;
}

/** The widget's calls to Parley, with a user's token. All reject with Refusal. */
export interface Calls {
  /** Reads an elicitation, with one try. */
  read(elicitationId: string, signal?: AbortSignal): Promise<Elicitation>;
  /** Reads one page of the person's open elicitations, with one try. */
  listOpen(cursor: string | undefined, signal: AbortSignal): Promise<OpenPage<Elicitation>>;
  /** Sends an answer, and retries with the same `responseId`. The call outlives the page if the browser allows that. */
  answer(elicitationId: string, answer: Answer): Promise<Elicitation>;
  /** Reads an approval, with one try. */
  readApproval(approvalId: string, signal?: AbortSignal): Promise<Approval>;
  /** Reads one page of the person's pending approvals, with one try. */
  listPending(cursor: string | undefined, signal: AbortSignal): Promise<OpenPage<Approval>>;
  /** Sends a decision, with one try. The call outlives the page if the browser allows that. */
  decide(approvalId: string, choice: ApprovalChoice): Promise<Approval>;
  listRemembered(): Promise<readonly RememberedApproval[]>;
  revokeRemembered(grantId: string): Promise<void>;
  /** Keeps one stream of the inbox open until the signal is aborted. Never rejects. */
  followInbox(listener: InboxListener, signal: AbortSignal): Promise<void>;
}

export function createCalls({ baseUrl, getToken, fetch, retryMs, onTime }: CallsOptions): Calls {
  const [firstDelayMs, delayMsMax] = retryMs;
  const send: typeof globalThis.fetch = (input, init) =>
    (fetch ?? globalThis.fetch)(input, { ...init, cache: 'no-store' });
  const transport = createTransport({
    root: baseUrl.replace(/\/+$/, ''),
    token: () => tokenFrom(getToken),
    fetch: send,
    retry: { ...RETRY_DEFAULTS, firstDelayMs, delayMsMax },
    // The token may have expired after the page received it.
    renewsToken: true,
    // A proxy may have changed the content type.
    acceptsProblem: () => true,
    onReply(reply, roundTripMs) {
      if (isRecord(reply) && typeof reply.serverTime === 'string') onTime(reply.serverTime, roundTripMs);
    },
  });

  return {
    read: (elicitationId, signal) =>
      attempt(async () =>
        elicitationIn(await readElicitation(transport, elicitationId, { signal, triesMax: 1 })),
      ),
    listOpen: (cursor, signal) =>
      attempt(async () => {
        const query = { status: ['pending', 'opened'], limit: 100, cursor } as const;
        const page = await listElicitations(transport, query, { signal, triesMax: 1 });
        return { items: page.elicitations.filter(isElicitation), nextCursor: page.nextCursor };
      }),
    // No signal is passed: an answer is sent even if the page is closed or the server object is.
    answer: (elicitationId, answer) =>
      attempt(async () =>
        elicitationIn(await sendAnswer(transport, elicitationId, answer as CoreAnswer, ANSWERING)),
      ),
    readApproval: (approvalId, signal) =>
      attempt(async () => approvalIn(await readApproval(transport, approvalId, { signal, triesMax: 1 }))),
    listPending: (cursor, signal) =>
      attempt(async () => {
        const query = { status: 'pending', limit: 100, cursor } as const;
        const page = await listApprovals(transport, query, { signal, triesMax: 1 });
        return { items: page.approvals.filter(isApproval), nextCursor: page.nextCursor };
      }),
    decide: (approvalId, choice) =>
      attempt(async () => approvalIn(await sendDecision(transport, approvalId, choice, DECIDING))),
    listRemembered: () => attempt(() => listRememberedApprovals(transport, { triesMax: 1 })),
    revokeRemembered: (grantId) => attempt(() => revokeRememberedApproval(transport, grantId)),
    async followInbox(listener, signal) {
      const options = {
        signal,
        onDisconnect: listener.onDisconnect,
        isRetryable: () => true,
        // A connection is live once its snapshot has come.
        resetsBackoff: (event?: SseEvent) => event?.event === 'inbox-snapshot',
      };
      for await (const item of followInbox(transport, options)) deliver(item, listener);
    },
  };
}

function deliver(item: InboxItem, { onSnapshot, onChange, onApproval }: InboxListener): void {
  if (item.type === 'inbox-snapshot') {
    onSnapshot(item.elicitations.filter(isElicitation), item.approvals.filter(isApproval));
    return;
  }
  // An event of an unknown type may contain a record too.
  const data: unknown =
    item.type === 'other' ? item.data : 'approval' in item ? item.approval : item.elicitation;
  if (isElicitation(data)) onChange(data);
  else if (isApproval(data)) onApproval(data);
}

/** The elicitation in a reply, without a sensitive answer. */
function elicitationIn(reply: unknown): Elicitation {
  if (!isElicitation(reply)) throw new Error('The reply does not come from Parley.');
  const { content, ...rest } = reply;
  return { ...rest, ...(content && !rest.sensitive && { content }) };
}

function approvalIn(reply: unknown): Approval {
  if (!isApproval(reply)) throw new Error('The reply does not come from Parley.');
  return reply;
}

async function tokenFrom(getToken: CallsOptions['getToken']): Promise<string> {
  try {
    return await getToken();
  } catch (cause) {
    throw new Refusal({ status: 0, code: 'unauthenticated', cause });
  }
}

async function attempt<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toRefusal(error);
  }
}
