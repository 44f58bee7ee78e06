import type { CallOutcome, FeedEvent, Remembered, RunEvent } from './events.ts';
import { textOf } from './index-runs.ts';

/** Where a pod may die in a simulated turn. */
export const DEATHS = ['in-stream', 'in-book', 'in-look', 'waiting', 'in-last'] as const;

export type SimulatedDeath = (typeof DEATHS)[number];

/** One turn: where its pods die, whether those try to write once more, and whether the answer's first reply is lost. */
export interface SimulatedTurn {
  readonly deaths: readonly SimulatedDeath[];
  readonly late: boolean;
  readonly lostReply: boolean;
}

/** Plays turns that do all as they should, each in a conversation `c<number>`: nothing in the history is wrong. */
export function simulateRuns(turns: readonly SimulatedTurn[]): RunEvent[] {
  return turns.flatMap((turn, at) => playTurn(`c${at}`, turn));
}

function playTurn(conversation: string, plan: SimulatedTurn): RunEvent[] {
  const scene = createScene(conversation, plan);
  const { die, say, call, tell } = scene;
  scene.own();
  say(0, ['Let me see, ', `${conversation}. `], 'in-stream');
  for (const name of ['book#1', 'look#1', 'elicit#1']) tell({ name: 'tool-called', call: name });
  call('book#1', { effect: true, death: 'in-book' });
  call('look#1', { effect: false, death: 'in-look' });
  scene.ask();
  tell({ name: 'step-finished', step: 0 });
  say(1, ['Looking again. ']);
  tell({ name: 'tool-called', call: 'look#2' });
  call('look#2', { effect: false });
  tell({ name: 'step-finished', step: 1 });
  say(2, ['Done: ', 'all of it.'], 'in-last');
  tell({ name: 'step-finished', step: 2 });
  die('never');
  return scene.end();
}

function createScene(conversation: string, plan: SimulatedTurn) {
  const out: RunEvent[] = [];
  const feed: FeedEvent[] = [];
  const remembered: Remembered[] = [{ type: 'heard', text: conversation }];
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

  function write(under: number, accepted: boolean, ends?: string): void {
    out.push({ type: 'attempt', ...at, term: under, pod: podOf(under) });
    out.push({ type: 'write', ...at, term: under, accepted, ...(ends !== undefined && { ends }) });
  }

  function tell(event: Omit<FeedEvent, 'id'>): void {
    feed.push({ id: `7-${feed.length + 1}`, ...event });
    write(term, true, event.name === 'turn-finished' ? 'finished' : undefined);
    if (event.name === 'text-delta') out.push({ type: 'seen', ...place(), text: textOf(feed) });
  }

  /** The owner dies here, if it is to; true then. */
  function die(point: SimulatedDeath | 'never' | undefined): boolean {
    if (point === undefined || point === 'never' || !plan.deaths.includes(point)) return false;
    out.push({ type: 'kill', pod: podOf(term), signal: 'SIGKILL', label: point });
    out.push({ type: 'closed', ...place(), clean: false });
    own();
    if (plan.late) write(term - 1, false);
    return true;
  }

  function say(step: number, pieces: readonly string[], death?: SimulatedDeath): void {
    const [first = '', ...rest] = pieces;
    const begin = () => {
      tell({ name: 'step-started', step });
      out.push({ type: 'said', conversation, step, text: pieces.join('') });
      tell({ name: 'text-delta', text: first });
    };
    begin();
    if (die(death)) {
      tell({ name: 'step-restarted', step });
      begin();
    }
    for (const text of rest) tell({ name: 'text-delta', text });
    remembered.push({ type: 'text', text: pieces.join('') });
  }

  function come(call: string, outcome: CallOutcome, output: unknown, more: { answer?: string } = {}): void {
    const name = outcome === 'returned' ? 'tool-returned' : 'tool-failed';
    const shown = more.answer === undefined ? output : { status: 'accepted' };
    tell({ name, call, outcome, output: shown });
    remembered.push({ type: 'called', call }, { type: 'result', call, outcome, output, ...more });
  }

  return {
    own,
    tell,
    die,
    say,
    call(call: string, { effect, death }: { readonly effect: boolean; readonly death?: SimulatedDeath }) {
      const arrival: RunEvent = { type: 'call', conversation, call, effect };
      out.push(arrival);
      const isLost = die(death);
      if (isLost && !effect) out.push(arrival);
      if (isLost && effect) come(call, 'unknown', 'It may or may not have had its effect.');
      else come(call, 'returned', `${call} done`);
    },
    ask() {
      const elicitationId = `el-${conversation}`;
      const answer = { type: 'answer', conversation, elicitationId, answer: '12A' } as const;
      tell({ name: 'elicitation-request', elicitationId });
      die('waiting');
      if (plan.lostReply) out.push({ ...answer, httpStatus: 0 });
      out.push({ ...answer, httpStatus: 200 });
      tell({ name: 'elicitation-resolved', elicitationId });
      come('elicit#1', 'returned', { status: 'accepted', answer: '12A' }, { answer: '12A' });
    },
    end(): RunEvent[] {
      tell({ name: 'turn-finished' });
      out.push({ type: 'closed', ...place(), clean: true });
      out.push({ type: 'final', ...at, status: 'finished', feed, remembered, left: [] });
      return out;
    },
  };
}
