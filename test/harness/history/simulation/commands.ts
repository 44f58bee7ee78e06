import type { Action, Owner, TerminalStatus } from '../events.ts';
import { canonical, isTerminal, STATUS_OF_ACTION } from '../outcome.ts';
import { expireIfDue, move, type SimulatedRow, type World } from './store.ts';

export type SimulatedCommand = {
  readonly kind: 'respond' | 'complete' | 'withdraw';
  readonly action?: Action;
  readonly content?: Readonly<Record<string, unknown>> | undefined;
};

/** Applies a command to the store; returns the HTTP status of the reply. */
export function apply(world: World, row: SimulatedRow, command: SimulatedCommand, by: Owner): number {
  const { owner, mode } = row.ask;
  const isMine = by.tenant === owner.tenant && (command.kind !== 'respond' || by.userId === owner.userId);
  if (!isMine) return 404;
  if (command.kind === 'complete' && !isFinishedByServer(row)) return 400;
  if (command.kind === 'respond' && mode === 'url' && command.content !== undefined) return 400;
  expireIfDue(world, row);
  return row.status === 'expired' ? 410 : settle(world, row, command);
}

/** The transition table, as far as clients can tell. */
function settle(
  world: World,
  row: SimulatedRow,
  { kind, action = 'accept', content }: SimulatedCommand,
): number {
  const goal = goalOf(kind, action);
  const answer = row.ask.mode === 'form' && goal === 'accepted' ? (content ?? {}) : undefined;
  if (isTerminal(row.status))
    return row.status === goal && canonical(answer) === canonical(row.content) ? 200 : 409;
  if (answer !== undefined && 'unfit' in answer) return 422;
  const isConsent = kind === 'respond' && action === 'accept' && isFinishedByServer(row);
  if (!isConsent) move(world, row, goal, kind === 'withdraw' ? undefined : action, answer);
  else if (row.status === 'pending') move(world, row, 'opened', 'accept');
  return 200;
}

function goalOf(kind: SimulatedCommand['kind'], action: Action): TerminalStatus {
  if (kind === 'withdraw') return 'withdrawn';
  return kind === 'complete' ? 'accepted' : STATUS_OF_ACTION[action];
}

function isFinishedByServer({ ask }: SimulatedRow): boolean {
  return ask.mode === 'url' && ask.completion === 'server';
}
