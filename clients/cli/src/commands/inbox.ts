import { createClient, type Elicitation, type InboxItem, type ParleyClient } from '@parley/sdk';
import { isTerminal as isEnded } from '@parley/shared/domain/elicitations/status';
import { readableLine } from '@parley/shared/domain/readable';
import type { Command } from 'commander';
import { answerInTerminal } from '../answering.ts';
import { connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { createCountdown } from '../terminal/countdown.ts';
import { createScreen } from '../terminal/handler.ts';
import { LEFT, type Screen } from '../terminal/screen.ts';
import { terminalOf } from '../terminal-of.ts';

interface InboxFlags {
  readonly list?: boolean;
  readonly plain?: boolean;
}

/** `parley inbox`: what waits for a person, kept up to date; choosing a question answers it. */
export function registerInbox(program: Command, context: CliContext): void {
  const command = program
    .command('inbox')
    .description('see what waits for you, and answer it')
    .option('--list', 'print what is open and end; so do --json and a pipe')
    .option('--plain', 'lines instead of a screen that is drawn over: for screen readers')
    .action(async ({ list, plain }: InboxFlags) => {
      const client = createClient(connectionOf(command, context, 'person'));
      const streams = terminalOf(context);
      if (list === true || streams === undefined || isJson(command)) {
        await printOpen(command, context, client);
        return;
      }
      await browse({ client, context, screen: createScreen(streams, plain === true) });
      context.setExitCode(EXIT.accepted);
    });
}

async function printOpen(command: Command, context: CliContext, client: ParleyClient): Promise<void> {
  for await (const elicitation of client.list({ status: ['pending', 'opened'] })) {
    if (isJson(command)) printJson(context, elicitation);
    else
      print(
        context,
        `${elicitation.elicitationId}\t${elicitation.expiresAt}\t${readableLine(elicitation.message)}`,
      );
  }
}

interface Browsing {
  readonly client: ParleyClient;
  readonly context: CliContext;
  readonly screen: Screen;
}

const TICK_MS = 1_000;
const LABEL_LENGTH = 60;

/** Shows the list until Ctrl+C. Every change of the inbox draws it anew, on the same line. */
async function browse({ client, context, screen }: Browsing): Promise<void> {
  const open = createOpenList();
  // Ctrl+C at a prompt is a key, which ends the list and aborts nothing by itself.
  const stopping = new AbortController();
  const following = follow(client, AbortSignal.any([context.signal, stopping.signal]), open);
  const ticking = setInterval(() => screen.redraw(), TICK_MS);
  try {
    await Promise.race([open.nextChange(), following]);
    let latest: string | undefined;
    for (;;) {
      if (open.items().length === 0) {
        screen.say('Nothing waits for you. New questions appear here; Ctrl+C ends.');
        await untilSome(open, context.signal);
        if (context.signal.aborted) return;
      }
      const chosen = await choose(screen, open, latest, context.signal);
      if (chosen === LEFT) return;
      if (chosen === 'changed') continue;
      latest = chosen.elicitationId;
      const ended = await answerInTerminal({ client, screen, signal: context.signal }, chosen);
      if (isEnded(ended.status)) open.remove(ended.elicitationId);
      screen.say(`${readableLine(chosen.message)}: ${ended.status}`);
    }
  } finally {
    clearInterval(ticking);
    stopping.abort();
  }
}

/** Waits until something is open, or the signal is aborted. */
async function untilSome(open: OpenList, signal: AbortSignal): Promise<void> {
  while (open.items().length === 0 && !signal.aborted)
    await Promise.race([open.nextChange(), aborted(signal)]);
}

async function choose(
  screen: Screen,
  open: OpenList,
  latest: string | undefined,
  signal: AbortSignal,
): Promise<Elicitation | 'changed' | typeof LEFT> {
  const changed = new AbortController();
  void open.nextChange().then(() => changed.abort());
  const items = open.items();
  const options = items.map(({ elicitation, left }) => ({
    value: elicitation,
    get label() {
      return `${readableLine(elicitation.title ?? elicitation.message).slice(0, LABEL_LENGTH)}${left()}`;
    },
  }));
  const initial = items.find(({ elicitation }) => elicitation.elicitationId === latest)?.elicitation;
  const label = `${items.length} open. Which one would you like to answer?`;
  const chosen = await screen.select({ label, options, initial }, AbortSignal.any([changed.signal, signal]));
  return chosen === LEFT && changed.signal.aborted && !signal.aborted ? 'changed' : chosen;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface OpenList {
  items(): readonly { readonly elicitation: Elicitation; readonly left: () => string }[];
  /** Resolves at the next change. */
  nextChange(): Promise<void>;
  apply(item: InboxItem): void;
  remove(elicitationId: string): void;
}

/** The open questions by their ids, oldest first. */
function createOpenList(): OpenList {
  const open = new Map<string, { readonly elicitation: Elicitation; readonly left: () => string }>();
  let waiting: (() => void)[] = [];
  const add = (elicitation: Elicitation) => {
    const left = createCountdown(Date.parse(elicitation.expiresAt) - Date.parse(elicitation.serverTime)).text;
    open.set(elicitation.elicitationId, { elicitation, left });
  };
  return {
    items: () =>
      [...open.values()].sort((a, b) => (a.elicitation.createdAt < b.elicitation.createdAt ? -1 : 1)),
    nextChange: () => new Promise((resolve) => waiting.push(resolve)),
    apply(item) {
      if (item.type === 'other' || 'approval' in item) return;
      if (item.type === 'inbox-snapshot') {
        open.clear();
        for (const elicitation of item.elicitations) add(elicitation);
      } else if (isEnded(item.elicitation.status)) open.delete(item.elicitation.elicitationId);
      else add(item.elicitation);
      const resolves = waiting;
      waiting = [];
      for (const resolve of resolves) resolve();
    },
    remove: (id) => void open.delete(id),
  };
}

async function follow(client: ParleyClient, signal: AbortSignal, open: OpenList): Promise<void> {
  for await (const item of client.inbox({ signal })) open.apply(item);
}
