import {
  type Answer as CoreAnswer,
  createTransport,
  followInbox,
  listElicitations,
  RETRY_DEFAULTS,
  readElicitation,
  type SseEvent,
  sendAnswer,
} from '@parley/core';
import { isRecord } from '@parley/shared/domain/plain-record';
import { type Elicitation, isElicitation } from '../elicitation.ts';
import { isResultUnknown, Refusal, toRefusal } from './refusal.ts';
import type { Answer, ElicitationServerOptions } from './type.ts';

/** How often an answer is sent while it is unknown whether it arrived. */
const ANSWER_TRIES = 4;

export interface CallsOptions extends Pick<ElicitationServerOptions, 'getToken' | 'fetch'> {
  readonly baseUrl: string;
  /** First and longest delay before a retry, in ms. */
  readonly retryMs: readonly [first: number, longest: number];
  /** Called with the `serverTime` of each reply, and the reply's round trip in ms. */
  readonly onTime: (serverTime: string, roundTripMs: number) => void;
}

export interface OpenElicitationsPage {
  readonly elicitations: readonly Elicitation[];
  readonly nextCursor: string | undefined;
}

/** What the inbox stream delivers. */
export interface InboxListener {
  /** Every open elicitation of the person; the first event of every connection. */
  readonly onSnapshot: (open: readonly Elicitation[]) => void;
  readonly onChange: (elicitation: Elicitation) => void;
  /** The connection ended or could not be made; another try follows. */
  readonly onDisconnect: () => void;
}

/** The widget's calls to Parley, with a user's token. All reject with Refusal. */
export interface Calls {
  /** One try. */
  read(elicitationId: string, signal?: AbortSignal): Promise<Elicitation>;
  /** One page of the person's open elicitations; one try. */
  listOpen(cursor: string | undefined, signal: AbortSignal): Promise<OpenElicitationsPage>;
  /** Sends an answer, and retries with the same `responseId`. It outlives the page where the browser allows that. */
  answer(elicitationId: string, answer: Answer): Promise<Elicitation>;
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
    // The token may have expired since the page received it.
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
        return { elicitations: page.elicitations.filter(isElicitation), nextCursor: page.nextCursor };
      }),
    // No signal: an answer is sent even when the page is left or the server object is closed.
    answer: (elicitationId, answer) =>
      attempt(async () =>
        elicitationIn(
          await sendAnswer(transport, elicitationId, answer as CoreAnswer, {
            triesMax: ANSWER_TRIES,
            giveUpMs: Number.POSITIVE_INFINITY,
            isRetryable: isResultUnknown,
            keepalive: true,
          }),
        ),
      ),
    async followInbox({ onSnapshot, onChange, onDisconnect }, signal) {
      const options = {
        signal,
        onDisconnect,
        isRetryable: () => true,
        ignoresServerRetry: true,
        // A connection is live when its snapshot has arrived.
        resetsBackoff: (event?: SseEvent) => event?.event === 'inbox-snapshot',
      };
      for await (const item of followInbox(transport, options)) {
        if (item.type === 'inbox-snapshot') onSnapshot(item.elicitations.filter(isElicitation));
        else {
          // An event of an unknown type may carry an elicitation, too.
          const data: unknown = item.type === 'other' ? item.data : item.elicitation;
          if (isElicitation(data)) onChange(data);
        }
      }
    },
  };
}

/** The elicitation of a reply, without an answer that is sensitive. */
function elicitationIn(reply: unknown): Elicitation {
  if (!isElicitation(reply)) throw new Error('The reply does not come from Parley.');
  const { content, ...rest } = reply;
  return { ...rest, ...(content && !rest.sensitive && { content }) };
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
