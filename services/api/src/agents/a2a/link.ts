import type { AsyncLocalStorage } from 'node:async_hooks';
import type { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { HOPS_KEY } from '@parley/shared/domain/a2a/hops';
import { visibleLabels } from '@parley/shared/domain/visible';
import { type Exchange, raceAbort, startExchange } from '../mcp/transports/exchange.ts';
import { faultOf, RemoteFault } from '../remote/faults.ts';
import type { ReadCard } from './cards.ts';
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
  /** For one that begins a task: how many deployments have delegated it, this one included. */
  readonly hops?: number;
  /** For one that begins a task: the id of the skill that the task is for. */
  readonly skill?: string | undefined;
}

/** What a message led to. */
export type RemoteReply =
  | { readonly type: 'message'; readonly parts: readonly RemotePart[] }
  | {
      readonly type: 'task';
      readonly ids: TaskIds;
      /** The further events of the task, where the agent streams. */
      readonly events?: EventStream;
    };

/** Events of a task, without their content: what happened is read from the task. */
export interface EventStream {
  /** Calls `onEvent` for each event. Resolves when the stream has ended, for whatever reason. */
  read(onEvent: (type: 'artifact' | 'other') => void): Promise<void>;
  close(): void;
}

/** Where a remote agent pushes the updates of a task, and the token by which it proves who it is. */
interface PushRegistration {
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly token: string;
}

/** A remote agent, to be called with one credential. Its methods throw RemoteFault, and the reason of an aborted signal. */
export interface RemoteLink
  extends Pick<ReadCard, 'isStreaming' | 'offersPush' | 'speaksElicitation' | 'isRepeatable'> {
  readonly agent: RemoteAgentTarget;
  send(message: OutgoingMessage, signal: AbortSignal): Promise<RemoteReply>;
  get(taskId: string, signal: AbortSignal): Promise<RemoteTask>;
  /** The task of a context, or without a context the task whose history has the message. */
  find(
    place: { contextId?: string | undefined; messageId: string },
    signal: AbortSignal,
  ): Promise<RemoteTask | undefined>;
  subscribe(taskId: string, signal: AbortSignal): EventStream;
  /** Has the agent push the updates of a task, in place of an earlier registration with the id. */
  registerPush(target: PushRegistration, signal: AbortSignal): Promise<void>;
  cancel(taskId: string, signal: AbortSignal): Promise<void>;
  /** Removes the secrets that were sent from what the agent says. */
  scrub<T>(value: T): T;
}

export interface RemoteLinkDeps {
  readonly sdk: ClientSdk;
  readonly client: Client;
  readonly read: ReadCard;
  readonly agent: RemoteAgentTarget;
  readonly exchanges: AsyncLocalStorage<Exchange>;
  /** Status of the last response to an exchange. */
  readonly statusOf: (exchange: Exchange) => number | undefined;
  readonly scrub: <T>(value: T) => T;
}

const READ_MS = 30_000;
/** A reply may take as long as the task. The task's own time ends it. */
const SEND_MS = 86_400_000;
const HISTORY_LENGTH = 100;
const PAGE_SIZE = 50;

type Sent = Awaited<ReturnType<Client['sendMessage']>>;

export function createLink(deps: RemoteLinkDeps): RemoteLink {
  const { sdk, client, read, agent, exchanges, statusOf, scrub } = deps;
  const { isStreaming, offersPush, speaksElicitation, isRepeatable } = read;
  const { Task, Message } = sdk.core;
  const serviceParameters = speaksElicitation
    ? sdk.client.ServiceParameters.create(sdk.client.withA2AExtensions(ELICITATION_EXTENSION))
    : {};

  async function request<T>(
    timeoutMs: number,
    signal: AbortSignal,
    work: (options: { signal: AbortSignal; serviceParameters: Record<string, string> }) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const exchange = startExchange({ timeoutMs, signal });
    try {
      const working = exchanges.run(exchange, () => work({ signal: exchange.signal, serviceParameters }));
      return await raceAbort(exchange, working);
    } catch (error) {
      signal.throwIfAborted();
      throw faultIn(exchange, error);
    } finally {
      exchange.end();
    }
  }

  /** A message that is too large ends its exchange, and then fails the SDK's reader in some way. */
  function faultIn(exchange: Exchange, error: unknown): RemoteFault {
    const cause = exchange.signal.aborted ? exchange.signal.reason : error;
    return faultOf(cause, { dispatched: exchange.dispatched, status: statusOf(exchange), scrub });
  }

  function taskIn(value: unknown): RemoteTask {
    const given = RemoteTask.safeParse(value);
    // A secret may be cut by the parts of an artifact, which are joined here.
    const task = given.success ? RemoteTask.safeParse(scrub(withVisibleStatus(given.data))) : given;
    if (task.success) return task.data;
    throw new RemoteFault('refused', 'its task is not well formed', 'InvalidAgentResponseError');
  }

  function replyOf(event: StreamResponse | undefined): RemoteReply {
    const payload = event?.payload;
    if (payload?.$case === 'message') return messageReply(payload.value);
    if (payload?.$case === 'task') return taskReply(payload.value.id, payload.value.contextId);
    return taskReply(payload?.value.taskId, payload?.value.contextId);
  }

  function messageReply(message: Parameters<typeof Message.toJSON>[0]): RemoteReply {
    const { parts } = RemoteMessage.parse(scrub(Message.toJSON(message)));
    return { type: 'message', parts };
  }

  function taskReply(id: string | undefined, contextId = ''): RemoteReply {
    const { id: taskId } = taskIn({ id, contextId });
    return { type: 'task', ids: { taskId, contextId } };
  }

  /** Reads the events of a call that the SDK has made. */
  function streamOf(
    call: (signal: AbortSignal) => AsyncGenerator<unknown>,
    signal: AbortSignal,
  ): EventStream & {
    first(): Promise<StreamResponse | undefined>;
  } {
    const exchange = startExchange({ timeoutMs: SEND_MS, signal });
    const closing = new AbortController();
    const events = call(AbortSignal.any([exchange.signal, closing.signal]));
    const next = () => exchanges.run(exchange, () => raceAbort(exchange, events.next()));
    const close = () => {
      exchange.end();
      closing.abort();
    };
    return {
      async first() {
        try {
          const { value } = await next();
          return value as StreamResponse | undefined;
        } catch (error) {
          signal.throwIfAborted();
          throw faultIn(exchange, error);
        }
      },
      async read(onEvent) {
        try {
          for (let item = await next(); item.done !== true; item = await next()) {
            const { payload } = item.value as StreamResponse;
            onEvent(payload?.$case === 'artifactUpdate' ? 'artifact' : 'other');
          }
        } catch {
          // What a stream does not tell is read from the task.
        } finally {
          close();
        }
      },
      close,
    };
  }

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
        const sent: Sent = await request(SEND_MS, signal, (options) => client.sendMessage(params, options));
        return 'messageId' in sent ? messageReply(sent) : taskReply(sent.id, sent.contextId);
      }
      const stream = streamOf(
        (ending) => client.sendMessageStream(params, { signal: ending, serviceParameters }),
        signal,
      );
      let isFollowed = false;
      try {
        const first = await stream.first();
        if (first === undefined) throw new RemoteFault('unknown');
        const reply = replyOf(first);
        isFollowed = reply.type === 'task';
        return reply.type === 'task' ? { ...reply, events: stream } : reply;
      } finally {
        if (!isFollowed) stream.close();
      }
    },
    async get(taskId, signal) {
      const params = { tenant: '', id: taskId, historyLength: HISTORY_LENGTH };
      const task = await request(READ_MS, signal, (options) => client.getTask(params, options));
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
      const { tasks } = await request(READ_MS, signal, (options) => client.listTasks(params, options));
      return tasks
        .map((task) => taskIn(Task.toJSON(task)))
        .find((task) =>
          contextId === ''
            ? task.history.some((one) => one.messageId === messageId)
            : task.contextId === contextId,
        );
    },
    subscribe: (taskId, signal) =>
      streamOf(
        (ending) => client.resubscribeTask({ tenant: '', id: taskId }, { signal: ending, serviceParameters }),
        signal,
      ),
    async registerPush(target, signal) {
      // Agents send the token by the one header or by the other.
      const authentication = { scheme: 'Bearer', credentials: target.token };
      const params = { tenant: '', ...target, authentication };
      await request(READ_MS, signal, (options) => client.createTaskPushNotificationConfig(params, options));
    },
    async cancel(taskId, signal) {
      const params = { tenant: '', id: taskId, metadata: undefined };
      await request(READ_MS, signal, (options) => client.cancelTask(params, options));
    },
  };
}

/** What the agent says of the state of a task is for people. What it has made is data. */
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
