/** A server of the 2026 revision that makes a task of each call. The tests say what becomes of the tasks. */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import {
  CreateTaskResultV2Schema,
  DetailedTaskV2Schema,
  TASKS_EXTENSION_ID_V2,
  TaskStatusNotificationV2Schema,
  UpdateTaskRequestV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { listenOnFreePort } from '../free-port.ts';
import { anyTool, said } from './tools.ts';

type State = Readonly<Record<string, unknown>>;

/** A task of the server. */
export interface FixtureTask {
  readonly taskId: string;
  /** The tool and its arguments. */
  readonly tool: string;
  readonly args: State;
  /** Status and what belongs to it. Undefined: the server does not know the task. */
  state: State | undefined;
  /** How often it was read. */
  reads: number;
  /** What it was answered, each time. */
  readonly updates: State[];
  isCancelled: boolean;
}

export interface TaskingServer {
  readonly url: string;
  /** One for each call that was made, growing. */
  readonly tasks: readonly FixtureTask[];
  /** The capabilities that the last call declared. */
  readonly declared: unknown;
  /** The tasks to which somebody listens now. */
  readonly listened: readonly string[];
  /** Breaks the streams of all who listen. */
  cut(): void;
  /** Sends a notification to all who listen. */
  notify(params: object): void;
  /** The headers of the last request about a task. */
  readonly headers: Readonly<Record<string, unknown>>;
  kill(): Promise<void>;
}

/** A form with a city. */
export const cityRequest = (message = 'Which city?') => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
});
/** A page to open. */
export const pageRequest = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Sign.', url: 'https://a.example/sign', elicitationId: 'sign' },
};
export const asking = (inputRequests: State): State => ({ status: 'input_required', inputRequests });
export const completed = (text: string): State => ({ status: 'completed', result: said(text) });

const LACKS_SCOPE = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' };

/** What tools do without the tests: each gets the answers so far, and says how its task stands. */
const TOOLS: Readonly<Record<string, (answers: State, args: State) => State>> = {
  book: ({ city }) =>
    city === undefined ? asking({ city: cityRequest() }) : completed(`booked ${JSON.stringify(city)}`),
  manual: (_, { state }) => (state as State | undefined) ?? { status: 'working' },
};

/** What one stream tells. */
interface Listened {
  readonly id: unknown;
  readonly taskIds: readonly string[];
}

interface ListenRequest {
  readonly id: unknown;
  readonly params: { readonly notifications: { readonly taskIds: readonly string[] } };
}

export interface TaskingOptions {
  /** In ms. @default 50 */
  readonly pollIntervalMs?: unknown;
  /** Creates tasks with these members. What is not in order is sent all the same. */
  readonly created?: State;
  /** False: nothing is checked against the schemas of the extension. @default true */
  readonly isLawful?: boolean;
  /** Tells each change of a task to those who listen to it, also what is no state. @default false */
  readonly tells?: boolean;
  /** Refuses a request before it is served, with that status. With 403, a scope is missing. */
  readonly refuses?: (method: string) => number | undefined;
}

/** Starts the server; `kill` it at the end. */
export async function startTaskingServer(options: TaskingOptions = {}): Promise<TaskingServer> {
  const { pollIntervalMs = 50, created = {}, isLawful = true, tells = false } = options;
  const streams = new Map<ServerResponse, Listened>();
  const tasks: FixtureTask[] = [];
  let declared: unknown;
  let headers: Record<string, unknown> = {};
  const lawful = (schema: z.ZodType, value: unknown) => (isLawful ? schema.parse(value) : value) as never;

  function factsOf({ taskId }: FixtureTask): State {
    const now = new Date().toISOString();
    return { taskId, createdAt: now, lastUpdatedAt: now, ttlMs: null, pollIntervalMs };
  }
  function find(taskId: unknown): FixtureTask {
    const task = tasks.find((one) => one.taskId === taskId);
    if (task?.state === undefined) throw new ProtocolError(-32602, 'Failed to retrieve task: Task not found');
    return task;
  }

  /** Begins a stream of what is told of these tasks. */
  function listen({ id, params }: ListenRequest, reply: ServerResponse): void {
    const { taskIds } = params.notifications;
    streams.set(reply, { id, taskIds });
    reply.once('close', () => streams.delete(reply));
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    send(reply, 'subscriptions/acknowledged', { notifications: { taskIds } });
  }
  function send(stream: ServerResponse, name: string, params: object): void {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': streams.get(stream)?.id };
    const message = { jsonrpc: '2.0', method: `notifications/${name}`, params: { ...params, _meta } };
    stream.write(`data: ${JSON.stringify(message)}\n\n`);
  }
  function tell(task: FixtureTask): void {
    if (task.state === undefined) return;
    const params = { ...factsOf(task), ...task.state };
    if (isLawful)
      TaskStatusNotificationV2Schema.parse({ jsonrpc: '2.0', method: 'notifications/tasks', params });
    for (const [stream, { taskIds }] of streams)
      if (taskIds.includes(task.taskId)) send(stream, 'tasks', params);
  }

  function newServer(): Server {
    const server = new Server(
      { name: 'tasking', version: '1.0.0' },
      { capabilities: { tools: {}, extensions: { [TASKS_EXTENSION_ID_V2]: {} } } },
    );
    // The SDK takes the answers out of the parameters of each request.
    const on = (method: string, handle: (params: Record<string, unknown>) => unknown) =>
      server.setRequestHandler(method, { params: z.looseObject({}) }, async (params, { mcpReq }) => {
        const { inputResponses } = mcpReq;
        return handle({ ...params, ...(inputResponses !== undefined && { inputResponses }) }) as never;
      });
    const tools = Object.keys(TOOLS).map((name) => anyTool(name));
    server.setRequestHandler('tools/list', () => ({ tools }) as never);
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
      declared = (mcpReq.envelope as Record<string, unknown> | undefined)?.[
        'io.modelcontextprotocol/clientCapabilities'
      ];
      let state = TOOLS[name]?.({}, args);
      const task: FixtureTask = {
        taskId: randomUUID(),
        tool: name,
        args,
        get state() {
          return state;
        },
        set state(next) {
          state = next;
          tell(task);
        },
        reads: 0,
        updates: [],
        isCancelled: false,
      };
      tasks.push(task);
      const reply = { resultType: 'task', status: 'working', ...factsOf(task), ...created };
      return lawful(CreateTaskResultV2Schema, reply);
    });
    on('tasks/get', ({ taskId }) => {
      const task = find(taskId);
      task.reads += 1;
      return lawful(DetailedTaskV2Schema, { ...factsOf(task), ...task.state });
    });
    on('tasks/update', ({ taskId, inputResponses }) => {
      const task = find(taskId);
      if (isLawful) UpdateTaskRequestV2Schema.shape.params.parse({ taskId, inputResponses });
      task.updates.push(inputResponses as State);
      const given = Object.assign({}, ...task.updates) as State;
      if (task.tool !== 'manual') task.state = TOOLS[task.tool]?.(given, task.args);
      return {};
    });
    on('tasks/cancel', ({ taskId }) => {
      const task = find(taskId);
      task.isCancelled = true;
      if (task.tool !== 'manual') task.state = { status: 'cancelled' };
      return {};
    });
    return server;
  }

  const serve = toNodeHandler(createMcpHandler(newServer, { legacy: 'reject' }));
  const http = createServer(async (request, reply) => {
    const body = request.method === 'POST' ? JSON.parse(await textOf(request)) : undefined;
    if (String(body?.method).startsWith('tasks/')) headers = request.headers;
    const status = options.refuses?.(String(body?.method));
    if (status !== undefined) return void reply.writeHead(status, status === 403 ? LACKS_SCOPE : {}).end();
    if (tells && body?.method === 'subscriptions/listen') return listen(body, reply);
    await serve(request as never, reply as never, body).catch(() => reply.destroy());
  });
  const port = await listenOnFreePort(http);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    tasks,
    get declared() {
      return declared;
    },
    get listened() {
      return [...streams.values()].flatMap(({ taskIds }) => taskIds);
    },
    cut() {
      for (const stream of streams.keys()) stream.destroy();
    },
    notify(params) {
      for (const stream of streams.keys()) send(stream, 'tasks', params);
    },
    get headers() {
      return headers;
    },
    kill: async () => {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}
