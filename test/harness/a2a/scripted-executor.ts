/** An executor for the stock server of `@a2a-js/sdk` that does what the words of a task say. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';

export const PAGE = 'https://bank.example/authorize?x=1';

const SEAT = { type: 'string', enum: ['window', 'aisle'] };
const QUESTIONS = [
  {
    id: 'el_seat',
    message: 'Which seat?',
    requestedSchema: { type: 'object', properties: { seat: SEAT }, required: ['seat'] },
  },
  {
    id: 'el_meal',
    message: 'Which meal?',
    requestedSchema: { type: 'object', properties: { meal: { type: 'string' } } },
  },
];

const INPUT = TaskState.TASK_STATE_INPUT_REQUIRED;
const AUTH = TaskState.TASK_STATE_AUTH_REQUIRED;

/** What the agent says at once to the words of a task; other words are greeted. */
const LINES: Readonly<Record<string, readonly [TaskState, string]>> = {
  ask: [INPUT, 'Which colour?'],
  page: [AUTH, `Please sign in at ${PAGE}.`],
  auth: [AUTH, 'Ask your bank.'],
  fail: [TaskState.TASK_STATE_FAILED, 'No paper.'],
  reject: [TaskState.TASK_STATE_REJECTED, 'Not my job.'],
};

type Reply = { readonly elicitationId: string; readonly action: string; readonly content?: object };

/** The words of a task are its last paragraph. */
const wordsOf = (text: string) => text.split('\n\n').at(-1) ?? '';

export interface ScriptedExecutor extends AgentExecutor {
  /** Messages that the executor got, in order. */
  readonly messages: readonly Message[];
  /** Ids of the tasks that were begun. */
  readonly begun: readonly string[];
  readonly cancelled: readonly string[];
  /** Completes the authorization of a task, out of band. */
  release(taskId: string): void;
}

export function createScriptedExecutor(): ScriptedExecutor {
  const messages: Message[] = [];
  const begun: string[] = [];
  const cancelled: string[] = [];
  const speakers = new Map<string, Speaker>();
  const answers = new Map<string, Map<string, unknown>>();

  function ask(speaker: Speaker, taskId: string) {
    const given = answers.get(taskId) ?? new Map<string, unknown>();
    const open = QUESTIONS.filter(({ id }) => !given.has(id));
    if (open.length === 0) return speaker.finish(`Heard: ${JSON.stringify(Object.fromEntries(given))}`);
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const asked = open.map(({ id, ...question }) => ({
      type: 'elicitation',
      elicitationId: `${id}_${taskId}`,
      mode: 'form',
      status: 'pending',
      expiresAt,
      ...question,
    }));
    speaker.say(INPUT, textPart('Some questions.'), ...asked.map(dataPart));
  }

  function take(taskId: string, replies: readonly Reply[]): void {
    const given = answers.get(taskId) ?? new Map<string, unknown>();
    answers.set(taskId, given);
    for (const { elicitationId, action, content } of replies)
      given.set(elicitationId.slice(0, 7), action === 'accept' ? content : action);
  }

  return {
    messages,
    begun,
    cancelled,
    async execute({ taskId, contextId, userMessage, task }: RequestContext, bus) {
      messages.push(userMessage);
      const speaker = createSpeaker(bus, taskId, contextId);
      speakers.set(taskId, speaker);
      const { text: whole, data } = contentOf(userMessage);
      const text = wordsOf(whole);
      if (text === 'message') return bus.publish(AgentEvent.message(speaker.message([textPart('Just so.')])));
      if (task === undefined) {
        begun.push(taskId);
        speaker.begin(userMessage);
      } else bus.publish(AgentEvent.task(task));
      speaker.say(TaskState.TASK_STATE_WORKING);
      if (task !== undefined && data.length > 0) take(taskId, data as Reply[]);
      if (text === 'form' || data.length > 0) return ask(speaker, taskId);
      if (task !== undefined) return speaker.finish(`Heard: ${text}`);
      if (text === 'tell') speaker.tell('Half of it. The rest');
      if (text === 'chatter') await chatter(speaker);
      if (text === 'slow' || text === 'tell') return new Promise((resolve) => bus.once('finished', resolve));
      const [state, words] = LINES[text] ?? [];
      if (state !== undefined) return speaker.say(state, textPart(words ?? ''));
      if (text === 'crumbs') return speaker.finish(...Array.from({ length: 60_000 }, () => ''));
      speaker.finish(text === 'big' ? 'x'.repeat(20_000) : `Hello: ${text}`);
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId);
      speakers.get(taskId)?.say(TaskState.TASK_STATE_CANCELED);
      bus.finished();
    },
    release(taskId) {
      speakers.get(taskId)?.say(TaskState.TASK_STATE_COMPLETED, textPart('Authorized.'));
      speakers.get(taskId)?.end();
    },
  };
}

type Speaker = ReturnType<typeof createSpeaker>;

/** Reports many steps of the work, one soon after the other. */
async function chatter(speaker: Speaker): Promise<void> {
  for (let step = 0; step < 150; step += 1) {
    speaker.say(TaskState.TASK_STATE_WORKING, textPart(`Step ${step}`));
    await sleep(10);
  }
}

function createSpeaker(bus: ExecutionEventBus, taskId: string, contextId: string) {
  const message = (parts: Part[]): Message => ({
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  });
  const statusOf = (state: TaskState, parts: Part[] = []) => ({
    state,
    message: parts.length === 0 ? undefined : message(parts),
    timestamp: new Date().toISOString(),
  });
  const say = (state: TaskState, ...parts: Part[]) =>
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, parts), metadata: undefined }),
    );

  return {
    message,
    say,
    begin(first: Message) {
      const status = statusOf(TaskState.TASK_STATE_SUBMITTED);
      const empty = { artifacts: [], metadata: undefined };
      bus.publish(AgentEvent.task({ id: taskId, contextId, status, history: [first], ...empty }));
    },
    /** Sends the beginning of an artifact. */
    tell(result: string) {
      const more = { name: '', description: '', metadata: undefined, extensions: [] };
      const artifact = { artifactId: 'a', parts: [textPart(result)], ...more };
      const begun = { append: false, lastChunk: false, metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...begun }));
    },
    finish(...texts: string[]) {
      const more = { name: '', description: '', metadata: undefined, extensions: [] };
      const artifact = { artifactId: 'a', parts: texts.map(textPart), ...more };
      const whole = { append: false, lastChunk: true, metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...whole }));
      say(TaskState.TASK_STATE_COMPLETED);
    },
    end: () => bus.finished(),
  };
}

function textPart(text: string): Part {
  return {
    content: { $case: 'text', value: text },
    metadata: undefined,
    filename: '',
    mediaType: 'text/plain',
  };
}

function dataPart(value: unknown): Part {
  return { ...textPart(''), content: { $case: 'data', value }, mediaType: 'application/json' };
}

function contentOf({ parts }: Message) {
  const text = parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join(' ');
  return { text, data: parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : [])) };
}
