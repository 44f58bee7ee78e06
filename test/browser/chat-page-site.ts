import type { UIMessageChunk } from 'ai';
import type { Page } from 'playwright-core';
import { type ChatPages, openChatPages } from '../e2e/chat-page.ts';
import { waitUntil } from '../harness/wait-until.ts';
import {
  type ChatCall,
  type Line,
  type Move,
  nothingRuns,
  reply,
  startChatServer,
} from '../unit/sdk-chat-server.ts';

/** The chat page before a server that does as it is told. */
export interface ScriptedPages extends Pick<ChatPages, 'open'> {
  /** What the next messages get, one after the other; whoever comes after them hangs. */
  will(...moves: Move[]): void;
  /** What every message gets that nothing else was said about. */
  always(move: Move): void;
  /** The messages that came. */
  sent(): readonly Sent[];
  /** How often somebody asked to stop. */
  stops(): number;
  stop(): Promise<void>;
}

export interface Sent {
  readonly key: string;
  readonly text: string;
}

const hang: Move = () => undefined;

/** Opens it for `ada`, in the Chromium of that path. */
export async function openScriptedPages(chromium: string): Promise<ScriptedPages> {
  const server = await startChatServer();
  let moves: Move[] = [];
  let otherwise = hang;
  server.always((res, call) => {
    const next =
      call.path === '/run/api/chat' ? (moves.shift() ?? otherwise) : (MOVES[wordOf(call)] ?? missing);
    next(res, call);
  });
  const pages = await openChatPages(server.url, ['ada'], chromium);
  return {
    open: pages.open,
    will(...next) {
      moves = next;
    },
    always(move) {
      otherwise = move;
    },
    sent: () => server.calls.filter(({ path }) => path === '/run/api/chat').map(sentIn),
    stops: () => server.calls.filter((call) => wordOf(call) === 'stop').length,
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
