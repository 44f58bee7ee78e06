import type { Task } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { answer, answerEach, asTask, questionsOf, say, stateOf } from '../../harness/a2a/messages.ts';
import { clientAt, fetchAs } from '../../harness/a2a/setup.ts';
import { STEPS } from './site.ts';

export const A2A_BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

/** A stock A2A client; a failed connection is tried again, on whichever pod then takes it. */
export function openA2aClient(
  url: string,
  binding: (typeof A2A_BINDINGS)[number],
  token: string,
): Promise<Client> {
  const patient: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input));
    for (let attempt = 1; ; attempt += 1) {
      try {
        const reply = await fetch(`${url}${pathname}${search}`, init);
        if (reply.status < 500 || attempt === ATTEMPTS) return reply;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  return clientAt(`${url}/`, fetchAs(patient, token), binding);
}

const ATTEMPTS = 100;
const PAUSE_MS = 200;

/** A task that waits for a person: how it begins, what the person then does, and how it ends. */
export interface WaitingCase {
  /** The first word of the message. */
  readonly word: string;
  /** How many questions wait at once. */
  readonly questions: number;
  readonly finish: (client: Client, asked: Task) => Promise<Task>;
  readonly state: string;
  /** The states between the first wait and the end, as a reader of the whole stream sees them. */
  readonly between: readonly string[];
  readonly text: RegExp;
  /** How often it has an effect. */
  readonly booked: number;
}

const GREEN = { action: 'accept', content: { answer: 'green' } };
const ENDED = { questions: 1, state: 'COMPLETED', between: ['WORKING'], booked: 1 } as const;

/** A case for each way in which a task that waited may end. */
export const WAITING_CASES: readonly WaitingCase[] = [
  {
    ...ENDED,
    word: 'one',
    text: /green/,
    finish: (client, { id }) => sent(client, say('green', { taskId: id })),
  },
  {
    ...ENDED,
    word: 'one',
    text: /declined/,
    finish: (client, asked) => sent(client, answer(asked, { action: 'decline' })),
  },
  {
    ...ENDED,
    word: 'two',
    questions: 2,
    text: /green.*green/s,
    finish: (client, asked) => sent(client, answerEach(asked, GREEN)),
  },
  {
    word: 'one',
    questions: 1,
    state: 'CANCELED',
    between: ['WORKING'],
    text: /^One moment\.$/,
    booked: 0,
    finish: (client, { id }) => client.cancelTask({ id, tenant: '', metadata: undefined }),
  },
  {
    ...ENDED,
    word: 'page',
    questions: 2,
    between: ['AUTH_REQUIRED', 'WORKING'],
    text: /A green ticket/,
    async finish(client, asked) {
      const form = questionsOf(asked).findIndex(({ mode }) => mode === 'form');
      const left = await sent(client, answer(asked, GREEN, form));
      if (stateOf(left) !== 'AUTH_REQUIRED') throw new Error(`The page does not wait: ${stateOf(left)}.`);
      return sent(client, answer(left, { action: 'accept' }));
    },
  },
  {
    word: 'filter',
    questions: 1,
    state: 'REJECTED',
    between: ['WORKING'],
    text: /That is/,
    booked: 0,
    finish: (client, asked) => sent(client, answer(asked, GREEN)),
  },
  {
    word: 'endless',
    questions: 1,
    state: 'FAILED',
    between: ['WORKING'],
    text: /One moment/,
    booked: STEPS - 1,
    finish: (client, asked) => sent(client, answer(asked, GREEN)),
  },
];

/** Waits for the task to end or to wait. */
export function sent(client: Client, message: ReturnType<typeof say>): Promise<Task> {
  return asTask(client.sendMessage(message));
}

/** A reader of the states of a task, to its end. */
export interface TaskReader {
  /** Resolves at the first state. */
  readonly reading: Promise<void>;
  /** Without repeats. A reader whose stream broke may miss states that have passed when it subscribes again. */
  readonly seen: Promise<{ readonly states: readonly string[]; readonly isWhole: boolean }>;
}

/** Follows a task; subscribes again on whichever pod where the stream breaks. */
export function followTask(client: Client, id: string): TaskReader {
  const seen: string[] = [];
  let subscriptions = 0;
  let begin: () => void = () => undefined;
  const reading = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const follow = async () => {
    for (;;) {
      subscriptions += 1;
      try {
        for await (const { payload } of client.resubscribeTask({ id, tenant: '' })) {
          if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') continue;
          seen.push(stateOf(payload.value));
          begin();
        }
      } catch {
        // The pod of the stream was killed, or the task has ended.
      }
      const state = stateOf(await client.getTask({ id, tenant: '' }));
      if (!ENDS.has(state)) continue;
      const states = [...seen, state].filter((one, at, all) => one !== all[at - 1]);
      return { states, isWhole: subscriptions === 1 && seen.at(-1) === state };
    }
  };
  return { reading, seen: follow() };
}

const ENDS: ReadonlySet<string> = new Set(['COMPLETED', 'CANCELED', 'REJECTED', 'FAILED']);
