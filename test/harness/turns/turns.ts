/** Turns for the encoders' tests: written by hand, and made at random with what a reader must make of them. */
import type { Approval } from '@parley/core/domain/approvals/approval';
import type { ApprovalEventName } from '@parley/core/domain/approvals/events';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { UnknownEvent } from '@parley/core/domain/events';
import { FINISH_REASONS, type TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import fc from 'fast-check';

/** Planted as the answer of every question: no encoder may let it out. */
export const CANARY = 'canary-7f3e';
const EPOCH = '17';

/** A question as a careless engine would hand it over: with its answer. */
export function question(
  elicitationId: string,
  status: Elicitation['status'] = 'pending',
  more: Partial<Elicitation> = {},
): Elicitation {
  return {
    elicitationId,
    streamRequestId: 'sr_1',
    conversationId: 'c1',
    userId: 'ada',
    mode: 'form',
    message: 'Which project?',
    context: { trigger: 'agent' },
    status,
    content: { project: CANARY },
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-01T00:10:00.000Z',
    serverTime: '2026-01-01T00:00:01.000Z',
    ...more,
  };
}

/** An approval of the call `t1`. */
export function approval(status: Approval['status'] = 'pending', more: Partial<Approval> = {}): Approval {
  return {
    approvalId: 'ap_1',
    streamRequestId: 'sr_1',
    conversationId: 'c1',
    userId: 'ada',
    toolCallId: 't1',
    step: 'sr_1 0',
    agent: 'Helper',
    tool: { server: 'bank', name: 'pay' },
    arguments: { amount: 7 },
    masked: [],
    status,
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-01T00:10:00.000Z',
    serverTime: '2026-01-01T00:00:01.000Z',
    ...more,
  };
}

interface ApprovalAppended {
  readonly name: ApprovalEventName;
  readonly approval: Approval;
}

type Appended =
  | ApprovalAppended
  | TurnEvent
  | UnknownEvent
  | { readonly name: string; readonly elicitation: Elicitation };

/** Numbers the events as a feed does. */
export function feed(appended: readonly Appended[], epoch = EPOCH): WatchItem[] {
  return appended.map((event, index) => {
    const id = `${epoch}-${index + 1}`;
    if ('approval' in event && !('type' in event)) return approvalItem(id, index, event as ApprovalAppended);
    return 'elicitation' in event && !('type' in event)
      ? {
          type: 'elicitation',
          id,
          at: index,
          event: String(event.name),
          elicitation: event.elicitation as Elicitation,
        }
      : { type: 'other', id, at: index, event: event as UnknownEvent };
  });
}

function approvalItem(id: string, at: number, { name, approval }: ApprovalAppended): WatchItem {
  return { type: 'approval', id, at, event: name, approval, isOver: false };
}

export const started: TurnEvent = {
  type: 'turn-started',
  conversationId: 'c1',
  messageId: 'msg_1',
  agent: 'helper',
};
export const finished: TurnEvent = { type: 'turn-finished', reason: 'stop' };
export const step = (number: number): TurnEvent => ({ type: 'step-started', step: number });
export const stepEnd = (number: number): TurnEvent => ({ type: 'step-finished', step: number });
export const restart = (number: number): TurnEvent => ({ type: 'step-restarted', step: number });
export const say = (block: string, text: string): TurnEvent => ({ type: 'text-delta', block, text });
export const said = (block: string): TurnEvent => ({ type: 'text-finished', block });
export const asked = (elicitation: Elicitation, name = 'elicitation-request') => ({ name, elicitation });

export const decided = (of: Approval) => {
  const name = of.status === 'pending' ? ('approval-request' as const) : ('approval-resolved' as const);
  return { name, approval: of };
};

/** Text that breaks careless framing, parsing or splitting. */
export const HOSTILE_TEXTS = [
  '\n\n',
  '\r\n',
  '\r',
  '\u0085',
  '\u2028\u2029',
  'data: {"type":"finish"}\n\n',
  '\n: comment\nid: 1-1\nevent: thread.run\n\n',
  '[DONE]',
  'data: [DONE]\n\n',
  '\ud83d',
  '\ude00',
  '\u{1f600}',
  '\u0000\u001b[2J',
  '"\\u0000\\',
  '</script><!--',
  '\u202e\ufeff',
] as const;

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.lorem({ maxCount: 4 }) },
  { weight: 1, arbitrary: fc.constant('') },
);

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    JSON.parse('{"__proto__": {"polluted": true}, "kept": 1}'),
    JSON.parse('{"constructor": {"prototype": {"polluted": true}, "name": "kept"}}'),
    [{ deep: JSON.parse('{"__proto__": 1}') }],
    undefined,
  ),
  text,
);

/** The events of one part of a step, and what the message keeps of it. */
interface Act {
  readonly appended: readonly Appended[];
  readonly text?: string;
  readonly tool?: { readonly id: string; readonly state: string };
}

const act: fc.Arbitrary<(name: string) => Act> = fc.oneof(
  fc.tuple(fc.array(text, { maxLength: 5 }), fc.boolean()).map(([deltas, ends]) => (name: string) => ({
    appended: [...deltas.map((delta) => say(name, delta)), ...(ends ? [said(name)] : [])],
    text: deltas.join('').toWellFormed(),
  })),
  fc
    .tuple(fc.constantFrom('', '__proto__', 'a"b\n', 'constructor'), value, value, fc.nat(2))
    .map(([prefix, input, output, outcome]) => (name: string): Act => {
      const id = prefix + name;
      const call: TurnEvent = { type: 'tool-called', toolCallId: id, toolName: 'search', input };
      const ends: TurnEvent[] = [
        { type: 'tool-returned', toolCallId: id, output },
        { type: 'tool-failed', toolCallId: id, message: `no ${name}` },
      ];
      const states = ['output-available', 'output-error', 'input-available'];
      return {
        appended: [call, ...ends.slice(outcome, outcome + 1)],
        tool: { id, state: states[outcome] ?? '' },
      };
    }),
  fc.constantFrom('accepted', 'declined', 'expired').map((status) => (name: string) => ({
    appended: [
      asked(question(name)),
      asked(question(name, 'opened'), 'elicitation-updated'),
      asked(question(name, status as Elicitation['status']), 'elicitation-resolved'),
    ],
  })),
  fc.constant((name: string) => ({
    appended: [
      {
        type: 'tool-auth-required' as const,
        toolCallId: name,
        toolId: 'issues',
        toolName: 'search',
        service: 'Tracker',
        message: 'Connect it first.',
      },
    ],
  })),
  fc.boolean().map((ends) => (block: string) => ({
    appended: [
      { type: 'thinking-started' as const, block },
      ...(ends ? [{ type: 'thinking-finished' as const, block }] : []),
    ],
  })),
  // From a newer pod, from a broken one, and of an unknown call.
  fc
    .constantFrom<UnknownEvent>(
      { type: 'thought', text: 'hm' },
      { type: 'text-delta', block: 7 },
      { type: 'tool-returned', toolCallId: 'never-called', output: 1 },
      { type: 'text-finished', block: 'never-begun' },
      { type: 'thinking-finished', block: 'never-begun' },
    )
    .map((event) => () => ({ appended: [event] })),
);

interface Attempt {
  readonly acts: readonly ((name: string) => Act)[];
  /** Whose event comes next, again and again: acts overlap. */
  readonly turns: readonly number[];
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  acts: fc.array(act, { maxLength: 4 }),
  turns: fc.array(fc.nat(3), { maxLength: 12 }),
});

const ending = fc.oneof(
  fc.constantFrom(...FINISH_REASONS).map((reason): TurnEvent => ({ type: 'turn-finished', reason })),
  text.map((message): TurnEvent => ({ type: 'turn-failed', code: 'model_failed', message })),
);

/** A turn's feed, and what its reader must end up with, in no order. */
export interface Story {
  readonly items: readonly WatchItem[];
  readonly texts: readonly string[];
  readonly tools: readonly { readonly id: string; readonly state: string }[];
  readonly questions: readonly string[];
  readonly ending: Extract<TurnEvent, { type: 'turn-finished' | 'turn-failed' }>;
}

/** Whole turns. With `restarts`, all attempts of a step but its last are void. */
export function stories({ restarts }: { readonly restarts: boolean }): fc.Arbitrary<Story> {
  const attempts = fc.array(attempt, { minLength: 1, maxLength: restarts ? 3 : 1 });
  return fc
    .record({
      early: fc.boolean(),
      steps: fc.array(fc.record({ attempts, ends: fc.boolean() }), { maxLength: 3 }),
      ending,
    })
    .map((plan) => storyOf(plan.early, plan.steps, plan.ending as Story['ending']));
}

function storyOf(
  early: boolean,
  steps: readonly { readonly attempts: readonly Attempt[]; readonly ends: boolean }[],
  end: Story['ending'],
): Story {
  const appended: Appended[] = [...(early ? [asked(question('early'))] : []), started];
  const kept: Act[] = [];
  for (const [number, { attempts, ends }] of steps.entries()) {
    for (const [index, { acts, turns }] of attempts.entries()) {
      appended.push(...(index === 0 ? [] : [restart(number)]), step(number));
      const done = acts.map((make, at) => make(`${number}.${index}.${at}`));
      appended.push(
        ...woven(
          done.map((each) => each.appended),
          turns,
        ),
      );
      if (index === attempts.length - 1) kept.push(...done);
    }
    if (ends) appended.push(stepEnd(number));
  }
  appended.push(end);
  const questions = appended.flatMap((each) =>
    'elicitation' in each && !('type' in each) ? [(each.elicitation as Elicitation).elicitationId] : [],
  );
  return {
    items: feed(appended),
    texts: kept.flatMap((each) => (each.text ? [each.text] : [])),
    tools: kept.flatMap(({ tool }) => (tool === undefined ? [] : [tool])),
    questions: [...new Set(questions)],
    ending: end,
  };
}

function woven(lists: readonly (readonly Appended[])[], turns: readonly number[]): Appended[] {
  const left = lists.map((list) => [...list]);
  const early = turns.flatMap((turn) => left[turn]?.splice(0, 1) ?? []);
  return [...early, ...left.flat()];
}
