import type { UIMessageChunk } from 'ai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import {
  type ChatCall,
  type Line,
  type Move,
  nothingRuns,
  refuse,
  reply,
  startChatServer,
  stream,
  textOfLines,
} from '../../harness/chat/chat-server.ts';
import { type ChatPages, keptIn, openChatPages, textsOf } from '../../harness/chat/page.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** The chat page before a scripted server. */
export interface ScriptedPages extends Pick<ChatPages, 'open'> {
  /** The replies to the next messages, in order. Later messages get no reply. */
  will(...moves: Move[]): void;
  /** The reply to every message without a scripted one. */
  always(move: Move): void;
  /** The reply to a resume request. @default that no turn is running */
  resumes(move: Move): void;
  /** The replies to a request for a chat's messages, and for the list of chats. @default that nothing is known */
  remembers(messages: Move, chats: Move): void;
  /** The reply to a stop request. @default that a turn was stopped */
  stopsWith(move: Move): void;
  /** Restores the defaults. */
  reset(): void;
  /** The messages that arrived. */
  sent(): readonly Sent[];
  /** The number of resume requests. */
  resumed(): number;
  /** The number of stop requests. */
  stops(): number;
  stop(): Promise<void>;
}

export interface Sent {
  readonly key: string;
  readonly text: string;
}

const hang: Move = () => undefined;

/** What one test uses: a page of `ada` before the scripted server, and the requests since the test began. */
export interface ScriptedPage {
  readonly pages: ScriptedPages;
  readonly page: Page;
  /** The messages. */
  sent(): readonly Sent[];
  /** The number of stop requests. */
  stops(): number;
}

/** Opens a page for each test of a suite, in the Chromium of that path. All tests share one server. */
export function forEachTest(chromium: string, give: (opened: ScriptedPage) => void): void {
  let pages: ScriptedPages;
  beforeAll(async () => {
    pages = await openScriptedPages(chromium);
  });
  afterAll(() => pages?.stop());
  beforeEach(async () => {
    pages.reset();
    const resumed = pages.resumed();
    const page = await pages.open('ada');
    // The page looks for earlier messages and for a running turn. What a test scripts later is not for that request.
    await waitUntil(() => pages.resumed() > resumed, { what: 'the page to look for a running turn' });
    const before = { sent: pages.sent().length, stops: pages.stops() };
    give({
      pages,
      page,
      sent: () => pages.sent().slice(before.sent),
      stops: () => pages.stops() - before.stops,
    });
    return () => page.context().close();
  });
}

/** Opens it for `ada`, in the Chromium of that path. */
async function openScriptedPages(chromium: string): Promise<ScriptedPages> {
  const server = await startChatServer();
  let moves: Move[] = [];
  let otherwise = hang;
  let rest: Readonly<Record<string, Move>> = MOVES;
  server.always((res, call) => {
    const next =
      call.path === '/run/api/chat' ? (moves.shift() ?? otherwise) : (rest[wordOf(call)] ?? missing);
    next(res, call);
  });
  const countOf = (word: string) => server.calls.filter((call) => wordOf(call) === word).length;
  const pages = await openChatPages(server.url, ['ada'], chromium);
  return {
    open: pages.open,
    will(...next) {
      moves = next;
    },
    always(move) {
      otherwise = move;
    },
    resumes(stream) {
      rest = { ...rest, stream };
    },
    remembers(messages, chats) {
      rest = { ...rest, messages, chats };
    },
    stopsWith(stop) {
      rest = { ...rest, stop };
    },
    reset() {
      moves = [];
      otherwise = hang;
      rest = MOVES;
    },
    sent: () => server.calls.filter(({ path }) => path === '/run/api/chat').map(sentIn),
    resumed: () => countOf('stream'),
    stops: () => countOf('stop'),
    async stop() {
      await pages.stop();
      await server.stop();
    },
  };
}

const MOVES: Readonly<Record<string, Move>> = { stream: nothingRuns, stop: reply({ stopped: true }) };
const missing: Move = (res) => res.writeHead(404).end();

const wordOf = ({ path }: ChatCall) => path.split('/').at(-1) ?? '';

function sentIn({ headers, body }: ChatCall): Sent {
  const { messages } = body as { messages: { parts: { text: string }[] }[] };
  return { key: String(headers['idempotency-key']), text: messages[0]?.parts[0]?.text ?? '' };
}

/** The events of a turn: its start, these chunks and its end, each with an id of the same feed. */
export function turnOf(messageId: string, chunks: readonly UIMessageChunk[], finish = 'stop'): Line[] {
  return [{ type: 'start', messageId }, ...chunks, { type: 'finish', finishReason: finish }].map(
    (data, at) => ({ id: `9${messageId}-${at}`, data: data as UIMessageChunk }),
  );
}

/** Replies with a complete turn of one text. */
export const completeTurn = (messageId: string, text: string, finish?: string): Move =>
  stream(textOfLines(turnOf(messageId, textIn(text), finish)));

/** The end of a stream whose turn waits for the person, as Parley sends it. */
export const waits = (messageId: string): Move =>
  stream(
    textOfLines([
      ...turnOf(messageId, textIn('Which seat?')).slice(0, -1),
      {
        id: `9${messageId}-9`,
        data: { type: 'finish', finishReason: 'other', messageMetadata: { parley: { state: 'waiting' } } },
      },
    ]),
  );

export const busy = refuse(503, 'unavailable', '0');

export function textIn(text: string): UIMessageChunk[] {
  return [
    { type: 'text-start', id: text },
    { type: 'text-delta', id: text, delta: text },
  ];
}

/** Advances the page's installed clock until the condition holds. */
export function passTime(page: Page, what: string, isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const step = async () => {
    if (await isSo()) return true;
    await page.clock.runFor(STEP_MS);
    return false;
  };
  return waitUntil(step, { what, everyMs: 5 });
}

/** The step of the clock, in ms. */
const STEP_MS = 250;

/** Installs a clock that the test can advance (it also runs by itself), and makes `Math.random` return 0.5. */
export async function holdTime(page: Page): Promise<void> {
  await page.clock.install();
  await page.addInitScript(() => {
    Math.random = () => 0.5;
    const sentAt: number[] = [];
    const { fetch } = globalThis;
    Object.assign(globalThis, {
      sentAt,
      fetch(input: string, init?: RequestInit) {
        if (input === '/run/api/chat') sentAt.push(Date.now());
        return fetch(input, init);
      },
    });
  });
  await page.reload();
  await page.getByText('You are ada.').waitFor();
}

/** The times between the messages that a page sent since `holdTime`, in ms of its clock. */
export function gapsOf(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { sentAt } = globalThis as unknown as { readonly sentAt: readonly number[] };
    return sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  });
}

/** The last reply that a page stores, once it is in one of these states. */
export async function repliedIn(page: Page, ...states: string[]) {
  const reply = (await keptIn(page, states)).at(-1);
  return { state: reply?.state, texts: textsOf(reply) };
}
