/** A call of HTTP+JSON as the JSON-RPC method that does the same. */
export interface RestOperation {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** HTTP status of success; 200 when absent. */
  readonly status?: 201 | 204;
}

export interface RestRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly body: unknown;
}

const SENDS: Readonly<Record<string, string>> = {
  'message:send': 'SendMessage',
  'message:stream': 'SendStreamingMessage',
};

/** `POST /message:send` and `/message:stream`. Undefined for every other path. */
export function sendOperation({ params: { operation = '' }, body }: RestRequest): RestOperation | undefined {
  const method = SENDS[operation];
  return method === undefined ? undefined : { method, params: recordOf(body) };
}

const READING_VERBS: Readonly<Record<string, string>> = { subscribe: 'SubscribeToTask' };
const TASK_VERBS: typeof READING_VERBS = { ...READING_VERBS, cancel: 'CancelTask' };

/** `GET /tasks/{id}`, and `:subscribe` after the id. It changes nothing: links and previews are followed by themselves. */
export const readingOperation = (request: RestRequest) => taskOperationOf(READING_VERBS, request);

/** `POST /tasks/{id}:cancel` and `:subscribe`. */
export const taskOperation = (request: RestRequest) => taskOperationOf(TASK_VERBS, request);

function taskOperationOf(
  verbs: typeof READING_VERBS,
  { params: { task = '' }, query }: RestRequest,
): RestOperation | undefined {
  const [id = '', verb, ...more] = task.split(':');
  if (more.length > 0) return undefined;
  if (verb === undefined) return { method: 'GetTask', params: { id, ...numbers(query, ['historyLength']) } };
  const method = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  return method === undefined ? undefined : { method, params: { id } };
}

const LIST_TEXTS = ['contextId', 'status', 'pageToken', 'statusTimestampAfter'];

/** `GET /tasks`. */
export function listOperation({ query }: RestRequest): RestOperation {
  const texts = LIST_TEXTS.flatMap((name) => (typeof query[name] === 'string' ? [[name, query[name]]] : []));
  return {
    method: 'ListTasks',
    params: {
      ...Object.fromEntries(texts),
      ...numbers(query, ['pageSize', 'historyLength']),
      ...(query.includeArtifacts === 'true' && { includeArtifacts: true }),
    },
  };
}

/** The calls on push notification configurations. */
export const PUSH_OPERATIONS = {
  put: ({ params: { task = '' }, body }: RestRequest): RestOperation => ({
    method: 'CreateTaskPushNotificationConfig',
    params: { ...recordOf(body), taskId: task },
    status: 201,
  }),
  list: ({ params: { task = '' } }: RestRequest): RestOperation => ({
    method: 'ListTaskPushNotificationConfigs',
    params: { taskId: task },
  }),
  get: ({ params: { task = '', config = '' } }: RestRequest): RestOperation => ({
    method: 'GetTaskPushNotificationConfig',
    params: { taskId: task, id: config },
  }),
  remove: ({ params: { task = '', config = '' } }: RestRequest): RestOperation => ({
    method: 'DeleteTaskPushNotificationConfig',
    params: { taskId: task, id: config },
    status: 204,
  }),
};

function numbers(query: RestRequest['query'], names: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query[name];
      // What is no number is refused with the others that cannot be.
      return typeof value === 'string' ? [[name, /^-?\d+$/.test(value) ? Number(value) : Number.NaN]] : [];
    }),
  );
}

function recordOf(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as Record<string, unknown>)
    : {};
}
