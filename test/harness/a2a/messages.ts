/** What the stock client of A2A sends and gets, in fewer words. */
import { randomUUID } from 'node:crypto';
import {
  type ListTasksResponse,
  type Message,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  taskStateToJSON,
} from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { type QuestionData, questionsIn } from '@parley/shared/domain/a2a/extension';
import type { WirePart } from '@parley/shared/domain/a2a/wire';
import { waitUntil } from '../wait-until.ts';

export type SentPart =
  | { readonly text: string }
  | { readonly data: unknown }
  | { readonly raw: Buffer; readonly mediaType: string };

export interface SendOptions {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly returnImmediately?: boolean;
  readonly messageId?: string;
  /** What the message has beside its parts. */
  readonly beside?: Beside;
}

type Beside = Pick<Message, 'metadata' | 'extensions' | 'referenceTaskIds'>;
const BARE: Beside = { metadata: undefined, extensions: [], referenceTaskIds: [] };

/** A message of these parts, as the client takes it. */
export function sending(
  parts: readonly SentPart[],
  {
    taskId = '',
    contextId = '',
    returnImmediately = false,
    messageId = randomUUID(),
    beside = BARE,
  }: SendOptions = {},
) {
  return {
    tenant: '',
    metadata: undefined,
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    message: {
      messageId,
      taskId,
      contextId,
      role: Role.ROLE_USER,
      parts: parts.map((part) => ({
        content:
          'text' in part
            ? { $case: 'text' as const, value: part.text }
            : 'raw' in part
              ? { $case: 'raw' as const, value: part.raw }
              : { $case: 'data' as const, value: part.data },
        metadata: undefined,
        filename: '',
        mediaType: 'raw' in part ? part.mediaType : '',
      })),
      ...beside,
    },
  };
}

export const say = (text: string, options: SendOptions = {}) => sending([{ text }], options);

/** An answer by the extension to one of the questions of a task. */
export const answer = (task: Task, data: Record<string, unknown>, index = 0, options: SendOptions = {}) =>
  sending([{ data: answerData(questionsOf(task)[index], data) }], { taskId: task.id, ...options });

/** The same answer to all questions of a task, in one message. */
export const answerEach = (task: Task, data: Record<string, unknown>) =>
  sending(
    questionsOf(task).map((question) => ({ data: answerData(question, data) })),
    { taskId: task.id },
  );

function answerData(question: QuestionData | undefined, data: Record<string, unknown>) {
  return { type: 'elicitation-response', elicitationId: question?.elicitationId, ...data };
}

/** The questions that a task asks. */
export function questionsOf(task: Task): QuestionData[] {
  const parts = task.status?.message?.parts ?? [];
  return questionsIn(
    parts.map(({ content }): WirePart => (content?.$case === 'data' ? { data: content.value } : {})),
  );
}

/** Waits until a task asks that many questions: on a busy machine a reply comes before the last of several is asked. */
export function untilAsked(client: Client, { id }: Task, count: number): Promise<Task> {
  const asked = async () => {
    const task = await client.getTask({ id, tenant: '' });
    return questionsOf(task).length === count && task;
  };
  return waitUntil(asked, { what: `${count} questions` });
}

/** The state of a task, without its prefix. */
export const stateOf = (task: Pick<Task, 'status'>) =>
  taskStateToJSON(task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED).replace('TASK_STATE_', '');

/** The text of the artifacts of a task. */
export const textOf = (task: Task) =>
  task.artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')))
    .join('');

export async function asTask(sent: Promise<unknown>): Promise<Task> {
  const result = (await sent) as Task;
  if (!('status' in result)) throw new Error('no task');
  return result;
}

/** The states that the events of a stream show, one after another. */
export async function statesOf(
  events: AsyncIterable<StreamResponse>,
  onTask: (task: Task) => void = () => undefined,
) {
  const states: string[] = [];
  for await (const { payload } of events) {
    if (payload?.$case === 'task') {
      onTask(payload.value);
      states.push(stateOf(payload.value));
    }
    if (payload?.$case === 'statusUpdate') states.push(stateOf(payload.value));
  }
  return states;
}

export interface Tasks {
  /** Sends a text, and waits for the task to end or to wait. */
  send(text: string, options?: SendOptions): Promise<Task>;
  reply(message: ReturnType<typeof sending>): Promise<Task>;
  get(id: string): Promise<Task>;
  cancel(id: string): Promise<Task>;
  list(more?: object): Promise<ListTasksResponse>;
  /** Subscribes to a task. Resolves to it once it has come; `states` are all of its states, at the end. */
  follow(id: string): Promise<{ readonly opened: Task; readonly states: Promise<string[]> }>;
}

/** What the tests do with a stock client. */
export function tasksOf(client: Client): Tasks {
  return {
    send: (text, options) => asTask(client.sendMessage(say(text, options))),
    reply: (message) => asTask(client.sendMessage(message)),
    get: (id) => client.getTask({ id, tenant: '' }),
    cancel: (id) => client.cancelTask({ id, tenant: '', metadata: undefined }),
    list: (more = {}) =>
      client.listTasks({
        tenant: '',
        contextId: '',
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
        statusTimestampAfter: undefined,
        ...more,
      }),
    async follow(id) {
      let begin: (task: Task) => void = () => undefined;
      const begun = new Promise<Task>((resolve) => {
        begin = resolve;
      });
      const states = statesOf(client.resubscribeTask({ id, tenant: '' }), begin);
      const opened = await Promise.race([begun, states.then(() => Promise.reject(new Error('no task')))]);
      return { opened, states };
    },
  };
}
