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
import { type ChatPages, keptIn, openChatPages, type PageParts, textsOf } from '../../harness/chat/page.ts';
import { openPage } from '../../harness/in-chromium.ts';
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

/** Gives each test of the current suite a page. `holdsTime`: one whose time `passTime` can advance. */
export type ForEachTest = (give: (opened: ScriptedPage) => void, how?: { holdsTime?: boolean }) => void;

/** Serves the page to all tests of the current suite. */
export function servePage(parts: () => PageParts): ForEachTest {
  let pages: ScriptedPages;
  /** Of tests before, by whether they hold time: a new one costs the start of a process. */
  const idle = new Map<boolean, Page>();
  beforeAll(async () => {
    pages = await openScriptedPages(parts());
  });
  afterAll(() => pages?.stop());
  return (give, { holdsTime = false } = {}) =>
    beforeEach(async () => {
      pages.reset();
      const resumed = pages.resumed();
      const page = await pages.open('ada', idle.get(holdsTime) ?? (await newPage(parts(), holdsTime)));
      idle.delete(holdsTime);
      // The page looks for earlier messages and for a running turn. What a test scripts later is not for that request.
      await waitUntil(() => pages.resumed() > resumed, { what: 'the page to look for a running turn' });
      const before = { sent: pages.sent().length, stops: pages.stops() };
      give({
        pages,
        page,
        sent: () => pages.sent().slice(before.sent),
        stops: () => pages.stops() - before.stops,
      });
      return async () => {
        // A clock that was changed stays.
        if (changedClocks.has(page)) return page.context().close();
        await page.unrouteAll();
        idle.set(holdsTime, page);
      };
    });
}

/** A page for one test after the other. */
export async function newPage({ browser }: PageParts, holdsTime = false): Promise<Page> {
  const page = await openPage(browser);
  await page.addInitScript(forget);
  if (holdsTime) {
    // It also runs by itself.
    await page.clock.install();
    await page.addInitScript(noteSends);
  }
  return page;
}

/** Runs in a page before its scripts: what another test has left in the tab is gone, what a reload finds stays. */
function forget(): void {
  const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (load?.type !== 'reload') sessionStorage.clear();
}

const changedClocks = new WeakSet<Page>();

/** Lets a page believe that it is that time. */
export function setTime(page: Page, ms: number): Promise<void> {
  changedClocks.add(page);
  return page.clock.setFixedTime(ms);
}

/** Opens it for `ada`. */
async function openScriptedPages(parts: PageParts): Promise<ScriptedPages> {
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
  const pages = await openChatPages(server.url, ['ada'], parts);
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

/**
 * Advances the held time of a page until the condition holds: while no request of the page is under way, so that the
 * time that a slow machine takes to answer one does not count, or also `whileAsking`.
 */
export function passTime(
  page: Page,
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { whileAsking = false } = {},
): Promise<boolean> {
  const isAsking = () => page.evaluate(() => (globalThis as unknown as HeldTime).asking > 0);
  const step = async () => {
    if (await isSo()) return true;
    if (whileAsking || !(await isAsking())) await page.clock.runFor(STEP_MS);
    return false;
  };
  return waitUntil(step, { what, timeoutMs: 80_000, everyMs: 25 });
}

/** The step of the clock, in ms. */
const STEP_MS = 1_000;

/** What `noteSends` leaves in a page. */
interface HeldTime {
  /** When messages were sent. */
  readonly sentAt: readonly number[];
  /** How many messages have no reply yet. */
  readonly asking: number;
}

/** Runs in a page before its scripts: notes the messages that it sends, and makes `Math.random` return 0.5. */
function noteSends(): void {
  Math.random = () => 0.5;
  const held = { sentAt: [] as number[], asking: 0 };
  const { fetch } = globalThis;
  Object.assign(globalThis, held, {
    fetch(input: string, init?: RequestInit) {
      const asked = fetch(input, init);
      if (input !== '/run/api/chat') return asked;
      const page = globalThis as unknown as typeof held;
      page.sentAt.push(Date.now());
      page.asking += 1;
      return asked.finally(() => {
        page.asking -= 1;
      });
    },
  });
}

/** The times between the messages that a page sent since its load, in ms of its clock. */
export function gapsOf(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { sentAt } = globalThis as unknown as HeldTime;
    return sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  });
}

/** The last reply that a page stores, once it is in one of these states. */
export async function repliedIn(page: Page, ...states: string[]) {
  const reply = (await keptIn(page, states)).at(-1);
  return { state: reply?.state, texts: textsOf(reply) };
}
