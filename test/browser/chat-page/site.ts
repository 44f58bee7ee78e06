import type { UIMessageChunk } from 'ai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ChatPages, keptIn, openChatPages, textsOf } from '../../e2e/chat/page.ts';
import { waitUntil } from '../../harness/wait-until.ts';
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
} from '../../unit/sdk/chat-server.ts';

/** The chat page before a server that does as it is told. */
export interface ScriptedPages extends Pick<ChatPages, 'open'> {
  /** What the next messages get, one after the other; whoever comes after them hangs. */
  will(...moves: Move[]): void;
  /** What every message gets that nothing else was said about. */
  always(move: Move): void;
  /** What whoever comes back to a turn gets; until told, that none runs. */
  resumes(move: Move): void;
  /** What whoever asks to stop gets; until told, that a turn was stopped. */
  stopsWith(move: Move): void;
  /** All of that is as it was at first. */
  reset(): void;
  /** The messages that came. */
  sent(): readonly Sent[];
  /** How often somebody came back to a turn without its message. */
  resumed(): number;
  /** How often somebody asked to stop. */
  stops(): number;
  stop(): Promise<void>;
}

export interface Sent {
  readonly key: string;
  readonly text: string;
}

const hang: Move = () => undefined;

/** What one test has: a page of `ada`'s before a server that does as it is told, and what has come since it began. */
export interface ScriptedPage {
  readonly pages: ScriptedPages;
  readonly page: Page;
  /** The messages. */
  sent(): readonly Sent[];
  /** How often somebody asked to stop. */
  stops(): number;
}

/** Gives each test of a suite its page, in the Chromium of that path; the server is one for all of them. */
export function forEachTest(chromium: string, give: (opened: ScriptedPage) => void): void {
  let pages: ScriptedPages;
  beforeAll(async () => {
    pages = await openScriptedPages(chromium);
  });
  afterAll(() => pages?.stop());
  beforeEach(async () => {
    pages.reset();
    const page = await pages.open('ada');
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
export async function openScriptedPages(chromium: string): Promise<ScriptedPages> {
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

/** Tells such a turn with one text to its end. */
export const told = (messageId: string, text: string, finish?: string): Move =>
  stream(textOfLines(turnOf(messageId, textIn(text), finish)));

/** As Parley ends the stream of a turn that waits for the person. */
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

/** Has time pass on a page whose clock was installed, until that is so. */
export function passTime(page: Page, what: string, isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const step = async () => {
    if (await isSo()) return true;
    await page.clock.runFor(STEP_MS);
    return false;
  };
  return waitUntil(step, { what, everyMs: 5 });
}

/** How much time passes at once. */
export const STEP_MS = 250;

/** From now on the page's chance is always a half, and its time can be passed; it flows by itself besides. */
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

/** Between the messages that a page sent since its time was held, in its ms. */
export function gapsOf(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { sentAt } = globalThis as unknown as { readonly sentAt: readonly number[] };
    return sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  });
}

/** The last reply that a page keeps, once it is in one of these states. */
export async function repliedIn(page: Page, ...states: string[]) {
  const reply = (await keptIn(page, states)).at(-1);
  return { state: reply?.state, texts: textsOf(reply) };
}
