import { UNOWNED } from '@parley/shared/domain/runs/run';
import { runKey } from '@parley/shared/redis/client/keys';
import { waitUntil } from '../wait-until.ts';
import type { Aim, Label } from './aims.ts';
import type { RunCommand, RunNoteSent } from './commands.ts';
import { answerOnce, TENANT } from './person.ts';

type Matches = (command: RunCommand) => boolean;
type Booking = NonNullable<Label['booking']>;

const WHEN = ['before', 'after'] as const;

const keeps =
  (field: RegExp, matches: (value: RunNoteSent['value']) => boolean = () => true): Matches =>
  (command) =>
    command.type === 'write' && command.notes.some((note) => field.test(note.field) && matches(note.value));
const callIs = (toolName: string, state: string) =>
  keeps(/^call:/, (call) => call.toolName === toolName && call.state === state);
/** A round is open until its results are stored. */
const stepIs = (index: number, lastRole: 'assistant' | 'tool') =>
  keeps(
    new RegExp(`^step:${index}$`),
    ({ messages }) => (messages as { role: string }[]).at(-1)?.role === lastRole,
  );

/**
 * Each write of a run, with the outcome of the booking when its owner dies before and after the write; absent where the
 * outcome depends on timing. A call counts as dispatched once its dispatch is recorded.
 */
const WRITES: readonly (readonly [name: string, matches: Matches, before?: Booking, after?: Booking])[] = [
  ['the beginning', ({ type }) => type === 'begin', 'returned', 'returned'],
  ['some text', (command) => command.type === 'write' && isText(command), 'returned', 'returned'],
  ['the first round, said', stepIs(0, 'assistant'), 'returned', 'returned'],
  ['the booking is dispatched', callIs('bookings__book', 'dispatched'), 'returned', 'unknown'],
  ['the look is dispatched', callIs('bookings__look', 'dispatched')],
  ['the question', (command) => command.type === 'commit' && command.revision === 0],
  ['the pause', keeps(/^pause:/, ({ resumedAt }) => resumedAt === undefined)],
  ['the booking is back', callIs('bookings__book', 'returned'), 'unknown', 'returned'],
  ['the look is back', callIs('bookings__look', 'returned')],
  ['the run resumes', keeps(/^pause:/, ({ resumedAt }) => resumedAt !== undefined), 'returned', 'returned'],
  ['the answer', callIs('elicit', 'returned'), 'returned', 'returned'],
  ['the first round, whole', stepIs(0, 'tool'), 'returned', 'returned'],
  ['the second round, said', stepIs(1, 'assistant'), 'returned', 'returned'],
  ['the second round, whole', stepIs(1, 'tool'), 'returned', 'returned'],
  ['the last round', stepIs(2, 'assistant'), 'returned', 'returned'],
  ['the end', (command) => command.type === 'write' && command.ends !== undefined, 'returned', 'returned'],
];

function isText({ notes, events }: RunCommand & { type: 'write' }): boolean {
  return notes.length === 0 && events.includes('text-delta');
}

/** True at points where no take-over is needed: the run has not begun, or has ended. */
function isUntouched(what: string, when: (typeof WHEN)[number]): boolean {
  return when === 'before' ? what === 'the beginning' : what === 'the end';
}

// Not daily: test/integration/turns/take-over.test.ts has an owner die at each write, before and after it, and test/e2e/chat
// has real pods die at the beginning, while text streams and at a question.
const atWrites: readonly Label[] = WRITES.flatMap(([what, matches, before, after]) =>
  WHEN.map((when) => ({
    name: `${when} ${what}`,
    isDaily: false,
    booking: when === 'before' ? before : after,
    owners: isUntouched(what, when) ? 1 : 2,
    set: (aim: Aim) => ({
      onCommand: (pod: string, command: RunCommand) => (matches(command) ? aim.cut(when, pod) : 'pass'),
      // From then on only consequences of the answer are in progress.
      onQuestion: async () => void (await onceBooked(aim.site, aim.talk)),
      // A short text is written together with what follows it, unless the model pauses.
      onSaying: ({ step }) =>
        what === 'some text' && step === 0 && !aim.fired() ? { kind: 'hang', afterChunks: 6 } : undefined,
    }),
  })),
);

const inTheModel: readonly Label[] = ([1, 2] as const).map(
  (round): Label => ({
    name: `in round ${round + 1} of the model, before its first text`,
    // For others the run is where its last write left it.
    isDaily: false,
    booking: 'returned',
    set: ({ site, talk, fire, fired }) => ({
      onSaying({ step }) {
        if (step !== round || fired()) return undefined;
        setImmediate(() => fire(site.ownerOf(talk.name)));
        return { kind: 'hang' };
      },
    }),
  }),
);

const inCalls: readonly Label[] = [
  ...(['book', 'look'] as const).map(
    (tool): Label => ({
      name: `while the tool works: ${tool}`,
      // The first owner dies so in `after the unknown outcome`.
      isDaily: false,
      booking: tool === 'book' ? 'unknown' : undefined,
      set: ({ site, talk, fire, fired }) => ({
        async onCall(call) {
          if (call.tool === tool && call.round === 1 && !fired()) fire(site.ownerOf(talk.name));
        },
      }),
    }),
  ),
  {
    name: 'while the pod drains, and the tool works',
    isDaily: true,
    booking: 'unknown',
    set: ({ site, talk, fire, fired }) => ({
      async onCall({ tool }) {
        const owner = site.ownerOf(talk.name);
        if (tool !== 'book' || fired() || owner === undefined) return;
        const { url } = site.pod(owner) ?? {};
        site.end(owner, 'SIGTERM');
        const isReady = () => fetch(`${url}/readyz`).then(({ ok }) => ok);
        await waitUntil(async () => !(await isReady().catch(() => false)), { what: 'the pod to drain' });
        fire(owner);
      },
    }),
  },
];

const whileWaiting: readonly Label[] = [
  {
    name: 'F18 while it waits, answered before a take-over',
    // In times.test.ts and test/e2e/chat/conversations.ts pods die so.
    isDaily: false,
    booking: 'returned',
    set: ({ site, talk, fire }) => ({ onQuestion: async () => fire(await onceBooked(site, talk)) }),
  },
  {
    name: 'F18 while it waits, answered once the new owner waits',
    // The slow people of take-over.ts answer so.
    isDaily: false,
    booking: 'returned',
    set: ({ site, talk, fire }) => ({
      async onQuestion() {
        const owner = await onceBooked(site, talk);
        fire(owner);
        await waitUntil(() => site.ownerOf(talk.name) !== owner, { what: 'another owner' });
      },
    }),
  },
  {
    name: 'between the settle and the next step',
    isDaily: true,
    booking: 'returned',
    set: ({ site, talk, fire }) => ({
      async onQuestion(question) {
        const owner = (await onceBooked(site, talk)) ?? '';
        const other = await site.pick(owner);
        // This pod receives nothing any more, while another pod takes the answer.
        site.pod(owner)?.gate.stall(true);
        const status = await answerOnce(site, talk, question, other);
        if (status === 200 && site.ownerOf(talk.name) === owner) fire(owner);
        else site.pod(owner)?.gate.stall(false);
      },
    }),
  },
];

/** The run changes its owner, and a pod involved in the change is killed. */
const atTakeOvers: readonly Label[] = WHEN.flatMap((when): Label[] => [
  {
    name: `${when} it is taken over`,
    isDaily: when === 'after',
    booking: 'returned',
    owners: when === 'before' ? 2 : 3,
    set: ({ site, talk, cut, settled }) => ({
      onCommand: (pod, command) =>
        command.type === 'take' && command.owner.startsWith(`${pod}/`) ? cut(when, pod) : 'pass',
      async onQuestion() {
        site.end((await onceBooked(site, talk)) ?? '', 'SIGKILL');
        await settled();
      },
    }),
  },
  {
    name: `${when} it is handed over`,
    // Before it, a pod dies while it drains, as it does while the tool works.
    isDaily: when === 'after',
    booking: 'returned',
    owners: when === 'before' ? 2 : 3,
    set: ({ site, talk, cut, settled }) => ({
      onCommand: (pod, command) =>
        command.type === 'take' && command.owner === UNOWNED ? cut(when, pod) : 'pass',
      async onQuestion() {
        site.end((await onceBooked(site, talk)) ?? '', 'SIGTERM');
        await settled();
      },
    }),
  },
]);

/** The second owner dies too, while it records that the outcome of the first owner's booking is unknown. */
const atUnknowns: readonly Label[] = WHEN.map((when) => ({
  name: `${when} the unknown outcome`,
  isDaily: when === 'after',
  booking: 'unknown',
  owners: 3,
  set({ site, talk, cut }) {
    let isKilled = false;
    return {
      async onCall({ tool }) {
        const owner = site.ownerOf(talk.name);
        // A second call is a defect, which the history shows.
        if (tool === 'book' && owner !== undefined && !isKilled) isKilled = site.end(owner, 'SIGKILL');
      },
      onCommand: (pod, command) => (callIs('bookings__book', 'failed')(command) ? cut(when, pod) : 'pass'),
    };
  },
}));

/** The owner of a run once both tool calls have returned, so that it only waits. */
async function onceBooked({ redis, ownerOf, runOf }: Aim['site'], { name, userId }: Aim['talk']) {
  const key = runKey({ tenant: TENANT, userId, streamRequestId: runOf(name) ?? '' });
  const isBack = async () => {
    const calls = Object.entries(await redis.hgetall(key)).filter(([field]) => field.startsWith('call:'));
    const known = calls.filter(([, value]) => !/^(intended|dispatched)$/.test(stateOf(value)));
    return known.length === 2;
  };
  await waitUntil(isBack, { what: 'the calls to return', timeoutMs: 10_000 }).catch(() => undefined);
  return ownerOf(name);
}

function stateOf(call: string): string {
  return (JSON.parse(call) as { state: string }).state;
}

/** All points at which the owner of a run is killed. */
export const LABELS: readonly Label[] = [
  ...atWrites,
  ...inTheModel,
  ...inCalls,
  ...atUnknowns,
  ...whileWaiting,
  ...atTakeOvers,
];
