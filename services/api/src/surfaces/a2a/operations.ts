/** The table of A2A operations, and the paths of HTTP+JSON. Serving them is in `bindings.ts`. */

import { isRecord } from '@parley/core/domain/plain-record';
import type { RouteCall } from '../../http/route.ts';

/** An operation of A2A: its JSON-RPC method, and the equivalent HTTP+JSON call. */
interface A2aOperation {
  readonly method: string;
  readonly http: 'GET' | 'POST' | 'DELETE';
  /** The path below the agent's address, in the router's notation. */
  readonly path: string;
  /** The text after the task's id, or the whole of `:operation`. */
  readonly verb?: string;
  /** How parameters are read from the query. Other parameters are ignored. */
  readonly query?: Readonly<Record<string, keyof typeof QUERY_READERS>>;
  /** The HTTP status of success; by default 200. */
  readonly status?: 201 | 204;
}

const TASKS = '/tasks';
const TASK = `${TASKS}/:task`;
const CONFIGS = `${TASK}/pushNotificationConfigs`;
const CONFIG = `${CONFIGS}/:config`;
export const SEND_PATH = '/:operation';
export const TASK_PATH = TASK;

/**
 * The operations of both bindings. Reading operations must not change anything, because browsers follow links and previews
 * automatically.
 */
const OPERATIONS: readonly A2aOperation[] = [
  { method: 'SendMessage', http: 'POST', path: SEND_PATH, verb: 'message:send' },
  { method: 'SendStreamingMessage', http: 'POST', path: SEND_PATH, verb: 'message:stream' },
  { method: 'GetTask', http: 'GET', path: TASK, query: { historyLength: 'number' } },
  {
    method: 'ListTasks',
    http: 'GET',
    path: TASKS,
    query: {
      contextId: 'text',
      status: 'text',
      pageToken: 'text',
      statusTimestampAfter: 'text',
      pageSize: 'number',
      historyLength: 'number',
      includeArtifacts: 'flag',
    },
  },
  { method: 'CancelTask', http: 'POST', path: TASK, verb: 'cancel' },
  { method: 'SubscribeToTask', http: 'GET', path: TASK, verb: 'subscribe' },
  { method: 'SubscribeToTask', http: 'POST', path: TASK, verb: 'subscribe' },
  { method: 'CreateTaskPushNotificationConfig', http: 'POST', path: CONFIGS, status: 201 },
  { method: 'ListTaskPushNotificationConfigs', http: 'GET', path: CONFIGS },
  { method: 'GetTaskPushNotificationConfig', http: 'GET', path: CONFIG },
  { method: 'DeleteTaskPushNotificationConfig', http: 'DELETE', path: CONFIG, status: 204 },
  { method: 'GetExtendedAgentCard', http: 'GET', path: '/extendedAgentCard' },
];

export type RestCall = Pick<A2aOperation, 'http' | 'path'>;

/** The HTTP+JSON calls as the router knows them: calls that differ only in their verb are one. */
export const REST_CALLS: readonly RestCall[] = OPERATIONS.filter(
  ({ http, path }, index) => OPERATIONS.findIndex((one) => one.http === http && one.path === path) === index,
);

/** An HTTP+JSON call, converted to the equivalent JSON-RPC method. */
export interface RestRequest extends Pick<A2aOperation, 'method' | 'status'> {
  readonly params: Readonly<Record<string, unknown>>;
}

/** Converts a call. Undefined for a call that A2A does not define. */
export function restRequestOf(
  { http, path }: RestCall,
  { params, query, body }: Pick<RouteCall, 'params' | 'query' | 'body'>,
): RestRequest | undefined {
  const { task, verb } = targetOf(path, params);
  const operation = OPERATIONS.find((one) => one.http === http && one.path === path && one.verb === verb);
  if (operation === undefined) return undefined;
  const { method, status, query: readers = {} } = operation;
  const isOfConfig = path.startsWith(CONFIGS);
  return {
    method,
    ...(status !== undefined && { status }),
    params: {
      ...(takesBody(operation) && isRecord(body) && body),
      ...queryOf((query ?? {}) as QueryValues, readers),
      ...(task !== undefined && { [isOfConfig ? 'taskId' : 'id']: task }),
      ...(params.config !== undefined && { id: params.config }),
    },
  };
}

const takesBody = ({ http, path }: A2aOperation) => http === 'POST' && path !== TASK;

/** The task that a path names, and the requested operation on it. */
function targetOf(path: string, { task, operation }: RouteCall['params']) {
  if (path !== TASK || task === undefined) return { task, verb: operation };
  const [id = '', ...verbs] = task.split(':');
  return { task: id, verb: verbs.length === 0 ? undefined : verbs.join(':') };
}

type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

const QUERY_READERS = {
  text: (value: string): unknown => value,
  // Text that is not a number stays text, and is refused together with other invalid values.
  number: (value: string): unknown => (/^-?\d+$/.test(value) ? Number(value) : Number.NaN),
  flag: (value: string): unknown => value === 'true',
};

function queryOf(query: QueryValues, readers: NonNullable<A2aOperation['query']>): Record<string, unknown> {
  const read = Object.entries(readers).flatMap(([name, type]) => {
    const value = query[name];
    return typeof value === 'string' ? [[name, QUERY_READERS[type](value)]] : [];
  });
  return Object.fromEntries(read);
}
