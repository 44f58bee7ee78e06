import type { AskedOfClient, ClientAnswer } from '../../harness/mcp-clients/clients.ts';
import { createTestBrowser } from '../../harness/pages/browser.ts';
import { BRIEF_SECONDS } from './site.ts';

/** A way in which a question by url ends: what the person does, and what the call then returns. */
export interface UrlCase {
  readonly name: string;
  readonly tool: string;
  readonly answer: (asked: AskedOfClient, signal: AbortSignal, person: UrlPerson) => Promise<ClientAnswer>;
  readonly result: { readonly text: RegExp; readonly isError: boolean };
  /** How often the server of the tool ended a call: it asks before it does anything, or Parley does. */
  readonly calls: number;
  /** How often the tool had its effect. */
  readonly effects: number;
  /** How the question ended in Parley. */
  readonly status: string;
}

export interface UrlPerson {
  readonly userId: string;
  /** Origin of the hosted pages. */
  readonly origin: string;
}

/** Longer than a brief question is open. */
const TOO_LONG_MS = 1_000 * BRIEF_SECONDS + 1_500;

const accept = async (): Promise<ClientAnswer> => ({ action: 'accept' });
const decline = async (): Promise<ClientAnswer> => ({ action: 'decline' });
const cancel = async (): Promise<ClientAnswer> => ({ action: 'cancel' });
const nothing: UrlCase['answer'] = (_asked, signal) => neverAnswer(signal);

/** The person does nothing until the client closes the question, or until a brief question has ended. */
function neverAnswer(signal: AbortSignal): Promise<ClientAnswer> {
  return new Promise((resolve) => {
    const end = () => resolve({ action: 'cancel' });
    signal.addEventListener('abort', end);
    setTimeout(end, TOO_LONG_MS);
  });
}

/** The person agrees, opens the page of Parley and gives the key there. */
const connect: UrlCase['answer'] = async ({ url = '' }, _signal, { userId, origin }) => {
  const browser = createTestBrowser({ publicUrl: origin });
  const page = await browser.enter(new URL(url).pathname, userId);
  const done = await browser.submit(page, 'secret', { secret: `key-of-${userId}` });
  if (!done.heading.includes('connected')) throw new Error(`The page says: ${done.heading}`);
  return { action: 'accept' };
};

/** Nobody but the server knows when its page is done; `accept` is the answer. */
const ASKED_BY_SERVER = [
  { end: 'accepted', answer: accept, says: /^Signed one/, status: 'accepted', effects: 1 },
  { end: 'declined', answer: decline, says: /^Not signed: decline/, status: 'declined', effects: 0 },
  { end: 'cancelled', answer: cancel, says: /^Not signed: cancel/, status: 'cancelled', effects: 0 },
  { end: 'expired', answer: nothing, says: /^Not signed: cancel/, status: 'expired', effects: 0 },
] as const;

/** Parley knows when its own page is done; `accept` is consent to open it. */
const ASKED_BY_PARLEY = [
  { end: 'connected', answer: connect, says: /^Stamped one/, status: 'accepted', effects: 1 },
  { end: 'declined', answer: decline, says: /explicitly declined/, status: 'declined', effects: 0 },
  { end: 'cancelled', answer: cancel, says: /dismissed the question/, status: 'cancelled', effects: 0 },
  { end: 'expired', answer: nothing, says: /before the deadline/, status: 'expired', effects: 0 },
  { end: 'opened, then expired', answer: accept, says: /before the deadline/, status: 'expired', effects: 0 },
] as const;

export const URL_CASES: readonly UrlCase[] = [
  ...ASKED_BY_SERVER.map(({ end, says, ...one }) => ({
    ...one,
    name: `page of a server, ${end}`,
    tool: one.status === 'expired' ? 'brief_desk__sign' : 'sign',
    result: { text: says, isError: false },
    calls: 1,
  })),
  ...ASKED_BY_PARLEY.map(({ end, says, ...one }) => ({
    ...one,
    name: `page of Parley, ${end}`,
    tool: one.status === 'expired' ? 'brief_account__stamp' : 'account__stamp',
    result: { text: says, isError: one.effects === 0 },
    calls: one.effects,
  })),
];
