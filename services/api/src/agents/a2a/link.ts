/**
 * The A2A calls to one remote agent with one credential. Which agents exist and their sockets are in `remote-agents.ts`; what
 * replies mean is decided by the callers.
 */

import type { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { visibleLabels } from '@parley/core/domain/visible';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { HOPS_KEY } from '@parley/shared/domain/a2a/hops';
import { RemoteFault } from '../remote/faults.ts';
import type { ReadCard } from './cards.ts';
import { createLinkExchanges, type EventStream, type LinkExchangeDeps, SEND_MS } from './exchanges.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import { RemoteMessage, type RemotePart, RemoteTask, type TaskIds } from './remote-task.ts';
import type { ClientSdk } from './sdk.ts';
import { SKILL_KEY } from './skills.ts';

/** A message to a remote agent. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly part: { readonly text: string } | { readonly data: Readonly<Record<string, unknown>> };
  /** For a message that begins a task: how many deployments have delegated the task, including this one. */
  readonly hops?: number;
  /** For a message that begins a task: the id of the requested skill. */
  readonly skill?: string | undefined;
}

/** The result of sending a message. */
export type RemoteReply =
  | { readonly type: 'message'; readonly parts: readonly RemotePart[] }
  | {
      readonly type: 'task';
      readonly ids: TaskIds;
      /** Further events of the task, if the agent streams. */
      readonly events?: EventStream;
    };

/** The address for push updates of a task, and the token with which the agent authenticates there. */
interface PushRegistration {
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly token: string;
}

/** A remote agent, called with one credential. Its methods throw RemoteFault and the reason of an aborted signal. */
export interface RemoteLink
  extends Pick<ReadCard, 'isStreaming' | 'offersPush' | 'speaksElicitation' | 'isRepeatable'> {
  readonly agent: RemoteAgentTarget;
  send(message: OutgoingMessage, signal: AbortSignal): Promise<RemoteReply>;
  get(taskId: string, signal: AbortSignal): Promise<RemoteTask>;
  /** Finds the task of a context; without a context, the task whose history contains the message. */
  find(
    place: { contextId?: string | undefined; messageId: string },
    signal: AbortSignal,
  ): Promise<RemoteTask | undefined>;
  subscribe(taskId: string, signal: AbortSignal): EventStream;
  /** Registers for push updates of a task. It replaces an earlier registration with the same id. */
  registerPush(target: PushRegistration, signal: AbortSignal): Promise<void>;
  cancel(taskId: string, signal: AbortSignal): Promise<void>;
  /** Removes from the agent's texts the secrets that were sent to it. */
  scrub<T>(value: T): T;
}

export interface RemoteLinkDeps extends LinkExchangeDeps {
  readonly sdk: ClientSdk;
  readonly client: Client;
  readonly read: ReadCard;
  readonly agent: RemoteAgentTarget;
}

const READ_MS = 30_000;
const HISTORY_LENGTH = 100;
const PAGE_SIZE = 50;

export function createLink(deps: RemoteLinkDeps): RemoteLink {
  const { sdk, client, read, agent, scrub } = deps;
  const { isStreaming, offersPush, speaksElicitation, isRepeatable } = read;
  const { Task } = sdk.core;
  const { taskIn, replyOf } = createReplyReader(sdk, scrub);
  const { request, stream } = createLinkExchanges(deps);
  const serviceParameters = speaksElicitation
    ? sdk.client.ServiceParameters.create(sdk.client.withA2AExtensions(ELICITATION_EXTENSION))
    : {};
  const optionsOf = (signal: AbortSignal) => ({ signal, serviceParameters });

  return {
    agent,
    isStreaming,
    offersPush,
    speaksElicitation,
    isRepeatable,
    scrub,
    async send(message, signal) {
      const params = sendParams(message, sdk);
      if (!isStreaming) {
        const sent = await request(SEND_MS, signal, (ending) =>
          client.sendMessage(params, optionsOf(ending)),
        );
        return replyOf(
          'messageId' in sent ? { $case: 'message', value: sent } : { $case: 'task', value: sent },
        );
      }
      const events = stream((ending) => client.sendMessageStream(params, optionsOf(ending)), signal);
      let isFollowed = false;
      try {
        const first = await events.first();
        if (first === undefined) throw new RemoteFault('unknown');
        const reply = replyOf(first.payload);
        isFollowed = reply.type === 'task';
        return reply.type === 'task' ? { ...reply, events } : reply;
      } finally {
        if (!isFollowed) events.close();
      }
    },
    async get(taskId, signal) {
      const params = { tenant: '', id: taskId, historyLength: HISTORY_LENGTH };
      const task = await request(READ_MS, signal, (ending) => client.getTask(params, optionsOf(ending)));
      return taskIn(Task.toJSON(task));
    },
    async find({ contextId = '', messageId }, signal) {
      const params = {
        tenant: '',
        contextId,
        status: sdk.core.TaskState.TASK_STATE_UNSPECIFIED,
        pageSize: PAGE_SIZE,
        pageToken: '',
        historyLength: HISTORY_LENGTH,
        statusTimestampAfter: undefined,
        includeArtifacts: false,
      };
      const { tasks } = await request(READ_MS, signal, (ending) =>
        client.listTasks(params, optionsOf(ending)),
      );
      return tasks
        .map((task) => taskIn(Task.toJSON(task)))
        .find((task) =>
          contextId === ''
            ? task.history.some((one) => one.messageId === messageId)
            : task.contextId === contextId,
        );
    },
    subscribe: (taskId, signal) =>
      stream((ending) => client.resubscribeTask({ tenant: '', id: taskId }, optionsOf(ending)), signal),
    async registerPush(target, signal) {
      // Agents send the token in one of two headers.
      const authentication = { scheme: 'Bearer', credentials: target.token };
      const params = { tenant: '', ...target, authentication };
      await request(READ_MS, signal, (ending) =>
        client.createTaskPushNotificationConfig(params, optionsOf(ending)),
      );
    },
    async cancel(taskId, signal) {
      const params = { tenant: '', id: taskId, metadata: undefined };
      await request(READ_MS, signal, (ending) => client.cancelTask(params, optionsOf(ending)));
    },
  };
}

/** Reads an agent's replies, which are untrusted, and removes the secrets that were sent. */
function createReplyReader({ core: { Message } }: ClientSdk, scrub: RemoteLinkDeps['scrub']) {
  function taskIn(value: unknown): RemoteTask {
    const given = RemoteTask.safeParse(value);
    // An artifact may be split within a secret, so its parts are joined before secrets are removed.
    const task = given.success ? RemoteTask.safeParse(scrub(withVisibleStatus(given.data))) : given;
    if (task.success) return task.data;
    throw new RemoteFault('refused', 'its task is not well formed', 'InvalidAgentResponseError');
  }

  function taskReply(id: string | undefined, contextId = ''): RemoteReply {
    const { id: taskId } = taskIn({ id, contextId });
    return { type: 'task', ids: { taskId, contextId } };
  }

  return {
    taskIn,
    replyOf(payload: StreamResponse['payload']): RemoteReply {
      if (payload?.$case === 'task') return taskReply(payload.value.id, payload.value.contextId);
      if (payload?.$case !== 'message') return taskReply(payload?.value.taskId, payload?.value.contextId);
      const { parts } = RemoteMessage.parse(scrub(Message.toJSON(payload.value)));
      return { type: 'message', parts };
    },
  };
}

/**
 * People read the agent's status messages, so invisible characters are removed from these. Artifacts are data and stay
 * unchanged.
 */
function withVisibleStatus({ status, ...task }: RemoteTask): RemoteTask {
  const { message } = status;
  return { ...task, status: message === undefined ? status : { ...status, message: visibleLabels(message) } };
}

function sendParams(
  { messageId, contextId = '', taskId = '', part, hops, skill }: OutgoingMessage,
  { core }: ClientSdk,
) {
  const isText = 'text' in part;
  const content = isText
    ? ({ $case: 'text', value: part.text } as const)
    : ({ $case: 'data', value: part.data } as const);
  return {
    tenant: '',
    message: {
      messageId,
      contextId,
      taskId,
      role: core.Role.ROLE_USER,
      parts: [
        { content, metadata: undefined, filename: '', mediaType: isText ? 'text/plain' : 'application/json' },
      ],
      metadata:
        hops === undefined
          ? undefined
          : { [HOPS_KEY]: hops, ...(skill !== undefined && { [SKILL_KEY]: skill }) },
      extensions: isText ? [] : [ELICITATION_EXTENSION],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: ['text/plain', 'application/json'],
      taskPushNotificationConfig: undefined,
      historyLength: undefined,
      returnImmediately: true,
    },
    metadata: undefined,
  };
}
