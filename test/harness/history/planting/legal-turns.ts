import { wholeText } from '../run-case.ts';
import type { CallOutcome, DecisionEvent, FeedEvent, RunEvent, StoredMessage } from '../run-events.ts';

/** Where a pod may die in a simulated turn. */
export const DEATHS = ['in-stream', 'in-book', 'in-look', 'waiting', 'in-last'] as const;

export type SimulatedDeath = (typeof DEATHS)[number];

/**
 * One turn: where its pods die, whether those try to write once more, whether the first reply to the person is lost, and what
 * the person decides on the payment.
 */
export interface SimulatedTurn {
  readonly deaths: readonly SimulatedDeath[];
  readonly late: boolean;
  readonly lostReply: boolean;
  readonly choice: DecisionEvent['choice'];
}

/** Simulates turns, each in a conversation `c<number>`; by construction a legal history. */
export function simulateRuns(turns: readonly SimulatedTurn[]): RunEvent[] {
  return turns.flatMap((turn, at) => simulateTurn(`c${at}`, turn));
}

function simulateTurn(conversation: string, plan: SimulatedTurn): RunEvent[] {
  const turn = createTurn(conversation, plan);
  const { die, write, call, append } = turn;
  turn.own();
  write(0, ['Let me see, ', `${conversation}. `], 'in-stream');
  for (const name of ['book#1', 'look#1', 'elicit#1']) append({ name: 'tool-called', call: name });
  call('book#1', { effect: true, death: 'in-book' });
  call('look#1', { effect: false, death: 'in-look' });
  turn.ask();
  append({ name: 'step-finished', step: 0 });
  write(1, ['Looking again. ']);
  append({ name: 'tool-called', call: 'look#2' });
  call('look#2', { effect: false });
  turn.pay();
  append({ name: 'step-finished', step: 1 });
  write(2, ['Done: ', 'all of it.'], 'in-last');
  append({ name: 'step-finished', step: 2 });
  die('never');
  return turn.end();
}

function createTurn(conversation: string, plan: SimulatedTurn) {
  const out: RunEvent[] = [];
  const feed: FeedEvent[] = [];
  const stored: StoredMessage[] = [{ type: 'message', text: conversation }];
  const run = `run-${conversation}`;
  const at = { conversation, run };
  let term = 0;
  let connection = 0;

  const podOf = (owner: number) => `pod-${conversation}-${owner}`;
  const place = () => ({ conversation, connection: `${conversation}/${connection}` });

  function own(): void {
    term += 1;
    connection += 1;
    if (term === 1) out.push({ type: 'begun', ...at });
    out.push({ type: 'term', ...at, term, owner: `${podOf(term)}/x` });
  }

  function commit(under: number, accepted: boolean, ends?: string): void {
    out.push({ type: 'attempt', ...at, term: under, pod: podOf(under) });
    out.push({ type: 'write', ...at, term: under, accepted, ...(ends !== undefined && { ends }) });
  }

  function append(event: Omit<FeedEvent, 'id'>): void {
    feed.push({ id: `7-${feed.length + 1}`, ...event });
    commit(term, true, event.name === 'turn-finished' ? 'finished' : undefined);
    if (event.name === 'text-delta') out.push({ type: 'seen', ...place(), text: wholeText(feed) });
  }

  /** Kills the owner where the plan demands it; true then. */
  function die(point: SimulatedDeath | 'never' | undefined): boolean {
    if (point === undefined || point === 'never' || !plan.deaths.includes(point)) return false;
    out.push({ type: 'kill', pod: podOf(term), signal: 'SIGKILL', label: point });
    out.push({ type: 'closed', ...place(), clean: false });
    own();
    if (plan.late) commit(term - 1, false);
    return true;
  }

  function write(step: number, pieces: readonly string[], death?: SimulatedDeath): void {
    const [first = '', ...rest] = pieces;
    const begin = () => {
      append({ name: 'step-started', step });
      out.push({ type: 'said', conversation, step, text: pieces.join('') });
      append({ name: 'text-delta', text: first });
    };
    begin();
    if (die(death)) {
      append({ name: 'step-restarted', step });
      begin();
    }
    for (const text of rest) append({ name: 'text-delta', text });
    stored.push({ type: 'text', text: pieces.join('') });
  }

  function finish(call: string, outcome: CallOutcome, output: unknown, more: { answer?: string } = {}): void {
    const name = outcome === 'returned' ? 'tool-returned' : 'tool-failed';
    const shown = more.answer === undefined ? output : { status: 'accepted' };
    append({ name, call, outcome, output: shown });
    stored.push({ type: 'called', call }, { type: 'result', call, outcome, output, ...more });
  }

  return {
    own,
    append,
    die,
    write,
    call(call: string, { effect, death }: { readonly effect: boolean; readonly death?: SimulatedDeath }) {
      const arrival: RunEvent = { type: 'call', conversation, call, effect };
      out.push(arrival);
      const isLost = die(death);
      if (isLost && !effect) out.push(arrival);
      if (isLost && effect) finish(call, 'unknown', 'It may or may not have had its effect.');
      else finish(call, 'returned', `${call} done`);
    },
    ask() {
      const elicitationId = `el-${conversation}`;
      const answer = { type: 'answer', conversation, elicitationId, answer: '12A' } as const;
      append({ name: 'elicitation-request', elicitationId });
      die('waiting');
      if (plan.lostReply) out.push({ ...answer, httpStatus: 0 });
      out.push({ ...answer, httpStatus: 200 });
      append({ name: 'elicitation-resolved', elicitationId });
      finish('elicit#1', 'returned', { status: 'accepted', answer: '12A' }, { answer: '12A' });
    },
    pay() {
      const [call, approvalId] = ['pay#1', `ap-${conversation}`];
      const amount = plan.choice === 'edit' ? 50 : 100;
      const decision = { type: 'decision', conversation, call, choice: plan.choice, amount } as const;
      append({ name: 'tool-called', call });
      append({ name: 'approval-request', approvalId });
      out.push(decision);
      if (plan.lostReply) out.push({ ...decision, reply: 0 });
      out.push({ ...decision, reply: 200 });
      append({ name: 'approval-resolved', approvalId });
      if (plan.choice === 'deny') return finish(call, 'failed', 'The person denied this call.');
      out.push({ type: 'call', conversation, call, effect: true, amount });
      finish(call, 'returned', `${call} done`);
    },
    end(): RunEvent[] {
      append({ name: 'turn-finished' });
      out.push({ type: 'closed', ...place(), clean: true });
      out.push({ type: 'run-final', ...at, status: 'finished', feed, stored, remaining: [] });
      return out;
    },
  };
}
