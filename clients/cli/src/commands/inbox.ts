/**
 * The command `parley inbox`: a live list of what is waiting for a person. Answering the chosen entry is in `answering.ts` and
 * `deciding.ts`.
 */

import { listApprovals } from '@parley/core';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { callText } from '@parley/core/domain/approvals/tool-title';
import { isTerminal as isEnded } from '@parley/core/domain/elicitations/status';
import { readableLine } from '@parley/core/domain/readable';
import {
  type Approval,
  compareWaiting,
  createClient,
  type Elicitation,
  type InboxItem,
  type ParleyClient,
} from '@parley/sdk';
import type { Command } from 'commander';
import { answerInTerminal, countdownOf } from '../answering.ts';
import { type CliConnection, connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson } from '../context.ts';
import { decideInTerminal, transportOf } from '../deciding.ts';
import { EXIT } from '../exit-code.ts';
import type { Countdown } from '../terminal/countdown.ts';
import { createScreen } from '../terminal/handler.ts';
import { cut } from '../terminal/look.ts';
import { LEFT, type Screen } from '../terminal/screen.ts';
import { terminalOf } from '../terminal-of.ts';

interface InboxFlags {
  readonly list?: boolean;
  readonly plain?: boolean;
}

/** `parley inbox`: lists what is waiting for a person and keeps the list up to date; choosing an entry answers it. */
export function registerInbox(program: Command, context: CliContext): void {
  const command = program
    .command('inbox')
    .description('see what waits for you, and answer it')
    .option('--list', 'print what is open and end; so do --json and a pipe')
    .option('--plain', 'lines instead of a screen that is drawn over: for screen readers')
    .action(async ({ list, plain }: InboxFlags) => {
      const connection = connectionOf(command, context, 'person');
      const client = createClient(connection);
      const streams = terminalOf(context);
      if (list === true || streams === undefined || isJson(command)) {
        await printOpen(command, context, client);
        await printApprovals(command, context, connection);
        return;
      }
      await browse({
        client,
        connection,
        context,
        screen: createScreen(streams, plain === true, context.env),
      });
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

async function printApprovals(
  command: Command,
  context: CliContext,
  connection: CliConnection,
): Promise<void> {
  const transport = transportOf(connection);
  let cursor: string | undefined;
  do {
    const page = await listApprovals(transport, { status: 'pending', cursor }, { signal: context.signal });
    for (const approval of page.approvals) {
      if (isJson(command)) printJson(context, approval);
      else print(context, `${approval.approvalId}\t${approval.expiresAt}\t${callText(approval)}`);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

interface Browsing {
  readonly connection: CliConnection;
  readonly client: ParleyClient;
  readonly context: CliContext;
  readonly screen: Screen;
}

const TICK_MS = 1_000;
/** At most this many columns of a question's text are used for its line in the list. */
const LABEL_COLUMNS = 200;

/** Shows the live list until Ctrl+C. */
async function browse({ client, connection, context, screen }: Browsing): Promise<void> {
  const open = createOpenList();
  // At a prompt, Ctrl+C is a key: it ends the list, but does not abort the command's signal.
  const stopping = new AbortController();
  const following = follow(client, AbortSignal.any([context.signal, stopping.signal]), open);
  // When the event stream is lost, the list is no longer shown, because it would be outdated.
  const lost = new AbortController();
  following.catch((error: unknown) => lost.abort(error));
  const signal = AbortSignal.any([context.signal, lost.signal]);
  const ticking = setInterval(() => screen.redraw(), TICK_MS);
  try {
    await Promise.race([nextChange(open), following]);
    let latest: string | undefined;
    for (;;) {
      if (open.items().length === 0) {
        screen.say('Nothing waits for you. What is new appears here; Ctrl+C ends.');
        await untilSome(open, signal);
        lost.signal.throwIfAborted();
        if (context.signal.aborted) return;
      }
      const chosen = await choose(screen, open, latest, signal);
      lost.signal.throwIfAborted();
      if (chosen === LEFT) return;
      if (chosen === 'changed') continue;
      const { record, left, id, label } = chosen;
      latest = id;
      const parts = { screen, signal: context.signal };
      const { status } =
        'approvalId' in record
          ? await decideInTerminal({ ...connection, ...parts }, id)
          : await answerInTerminal({ client, ...parts }, record, left);
      const hasEnded = isOver({ ...record, status } as OpenRecord);
      if (hasEnded) open.remove(id);
      screen.say(`${label}: ${hasEnded ? status : 'left open'}`);
    }
  } finally {
    clearInterval(ticking);
    stopping.abort();
  }
}

/** Waits until something is open, or the signal is aborted. */
async function untilSome(open: OpenList, signal: AbortSignal): Promise<void> {
  while (open.items().length === 0 && !signal.aborted)
    await Promise.race([nextChange(open), aborted(signal)]);
}

async function choose(
  screen: Screen,
  open: OpenList,
  latest: string | undefined,
  signal: AbortSignal,
): Promise<OpenItem | 'changed' | typeof LEFT> {
  const changed = new AbortController();
  const stop = open.onChange(() => {
    if (screen.isLive && open.items().length > 0) screen.redraw();
    else changed.abort();
  });
  const prompt = {
    get label() {
      return `${open.items().length} open. Which one would you like to answer?`;
    },
    get options() {
      return open.items().map(({ id, label, left }) => ({
        value: id,
        label,
        note: left(),
      }));
    },
    initial: latest,
  };
  try {
    const chosen = await screen.select(prompt, AbortSignal.any([changed.signal, signal]));
    if (chosen === LEFT) return changed.signal.aborted && !signal.aborted ? 'changed' : LEFT;
    return open.items().find(({ id }) => id === chosen) ?? 'changed';
  } finally {
    stop();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

type OpenRecord = Elicitation | Approval;

interface OpenItem {
  readonly id: string;
  readonly record: OpenRecord;
  readonly label: string;
  /** The time left, counted from the moment at which the server sent the record. */
  readonly left: Countdown;
}

interface OpenList {
  items(): readonly OpenItem[];
  /** Calls the listener at each change until the returned function is called. */
  onChange(listener: () => void): () => void;
  apply(item: InboxItem): void;
  remove(id: string): void;
}

function nextChange(open: OpenList): Promise<void> {
  return new Promise((resolve) => {
    const stop = open.onChange(() => {
      stop();
      resolve();
    });
  });
}

function idOf(record: OpenRecord): string {
  return 'approvalId' in record ? record.approvalId : record.elicitationId;
}

function isOver(record: OpenRecord): boolean {
  return 'approvalId' in record ? isApprovalEnded(record.status) : isEnded(record.status);
}

/** The open records by id, ordered by risk (highest first), and then by deadline. */
function createOpenList(): OpenList {
  const open = new Map<string, OpenItem>();
  const listeners = new Set<() => void>();
  const add = (record: OpenRecord) => {
    const text = 'approvalId' in record ? callText(record) : readableLine(record.title ?? record.message);
    const id = idOf(record);
    open.set(id, { id, record, label: cut(text, LABEL_COLUMNS), left: countdownOf(record) });
  };
  return {
    items: () => [...open.values()].sort((a, b) => compareWaiting(a.record, b.record)),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    apply(item) {
      if (item.type === 'other') return;
      if (item.type === 'inbox-snapshot') {
        open.clear();
        for (const record of [...item.elicitations, ...item.approvals]) add(record);
      } else {
        const record = 'approval' in item ? item.approval : item.elicitation;
        if (isOver(record)) open.delete(idOf(record));
        else add(record);
      }
      for (const listener of [...listeners]) listener();
    },
    remove: (id) => void open.delete(id),
  };
}

async function follow(client: ParleyClient, signal: AbortSignal, open: OpenList): Promise<void> {
  for await (const item of client.inbox({ signal })) open.apply(item);
}
