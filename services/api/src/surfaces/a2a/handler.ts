import type { ListTasksRequest, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import type { WireUpdate } from '@parley/shared/domain/a2a/wire';
import { isParleyError } from '@parley/shared/domain/errors';
import type { Run } from '@parley/shared/domain/runs/run';
import { notFound } from '@parley/shared/elicitations/caller';
import { withTimeLimit } from '@parley/shared/elicitations/time-limit';
import { inStreamPlace } from '../../http/limits/stream-places.ts';
import type { RouteCall } from '../../http/route.ts';
import { actingCallerOf } from '../../turns/principal.ts';
import { podDraining } from '../../turns/start.ts';
import { cardOf } from './card.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import { a2aErrorOf, isByStatus } from './errors.ts';
import { readMessage } from './message.ts';
import type { Sdk } from './sdk.ts';
import { checkHistoryLength, listPage } from './task-list.ts';
import { followTask, type OpenedTask } from './task-stream.ts';
import { createCallerTasks, hasEnded } from './tasks.ts';
import { LEGACY, versionOf } from './version.ts';

/** The request handler of one call, below the SDK's bindings. */
export interface CallHandler extends A2ARequestHandler {
  /** The error of the call that A2A has no name for. */
  readonly fault: unknown;
  /** The error of the call, as A2A names it where it does. */
  readonly error: unknown;
}

interface HandlerParts {
  readonly sdk: Sdk;
  readonly deps: A2aDeps;
  readonly agent: OfferedAgent;
  readonly origin: string;
  readonly call: RouteCall;
}

/** Serves one call of an agent. Identity, budget and signal are those of the call; tasks are found under its person alone. */
export function createCallHandler({ sdk, deps, agent, origin, call }: HandlerParts): CallHandler {
  const { core, errors } = sdk;
  const { push } = deps;
  const who = actingCallerOf(call);
  const tasks = createCallerTasks(deps, agent, who);
  let fault: unknown;
  let failure: unknown;

  /** Runs one operation: its budget first, its errors as A2A names them. */
  async function run<Result>(writes: boolean, operation: () => Promise<Result>): Promise<Result> {
    try {
      await deps.limits.call(who.caller, writes);
      return await operation();
    } catch (error) {
      throw named(error);
    }
  }

  function named(error: unknown): unknown {
    const a2a = a2aErrorOf(sdk, error);
    failure = a2a;
    if (isByStatus(a2a) || !(a2a instanceof errors.A2AError)) fault = a2a;
    return a2a;
  }

  const shownOf = ({ fold }: OpenedTask, historyLength: number | undefined): Task | undefined => {
    const json = fold.task();
    if (json === undefined) return undefined;
    const task = core.Task.fromJSON(json);
    if (historyLength === undefined) return task;
    return { ...task, history: historyLength <= 0 ? [] : task.history.slice(-historyLength) };
  };
  const taskOf = (opened: OpenedTask, historyLength: number | undefined): Task => {
    const task = shownOf(opened, historyLength);
    if (task === undefined) throw notFound();
    return task;
  };
  const updateOf = (update: WireUpdate): StreamResponse => core.StreamResponse.fromJSON(update);

  /** Begins a task or answers one. A new task is followed from its first event. */
  async function take(params: SendMessageRequest): Promise<OpenedTask> {
    if (call.draining) throw podDraining();
    checkHistoryLength(params.configuration?.historyLength);
    const message = readMessage(sdk, params.message);
    const config = params.configuration?.taskPushNotificationConfig;
    const version = versionOf(call.head);
    if (config !== undefined && push === undefined) throw new errors.PushNotificationNotSupportedError();
    if (message.taskId !== undefined) {
      const found = await tasks.find(message.taskId);
      // Before the effect: a message with a configuration that cannot be kept changes nothing.
      if (config !== undefined) await push?.check(config, version, found);
      await tasks.answer(found, message);
      if (config !== undefined) await push?.put(found, config, version);
      return tasks.open(await tasks.find(message.taskId));
    }
    if (config !== undefined) await push?.check(config, version);
    const begun = await tasks.begin(message);
    if (config !== undefined) await push?.put(begun.run, config, version);
    return tasks.open(begun.run);
  }

  const person = { kind: 'user', ...who.owner } as const;

  /** Follows the task that `begin` opens for a bounded time, in a place of the person's streams that is taken first. */
  function wait(begin: () => Promise<OpenedTask>, to: 'terminal' | 'interrupted'): Promise<OpenedTask> {
    const reader = { stream: `a2a/${agent.id}`, returns: false };
    return inStreamPlace(deps.limits, { caller: person, signal: call.signal }, reader, async (place) => {
      try {
        const opened = await begin();
        await withTimeLimit(deps.waitMs, place.signal, async (signal) => {
          try {
            for await (const _update of followTask(deps, opened, { signal, to }));
          } catch (error) {
            if (!signal.aborted || place.signal.aborted) throw error;
          }
        });
        return opened;
      } finally {
        place.release();
      }
    });
  }

  function activate(context: ServerCallContext): void {
    if (context.requestedExtensions?.includes(ELICITATION_EXTENSION) === true)
      context.addActivatedExtension(ELICITATION_EXTENSION);
  }

  /** Updates in a place of the person's streams, beginning with the task as it is. */
  async function* stream(opening: () => Promise<OpenedTask>, to: 'terminal' | 'answerable') {
    try {
      const opened = await opening();
      const { streamRequestId } = opened.run;
      const { updates, release } = await inStreamPlace(
        deps.limits,
        { caller: person, signal: call.signal },
        { stream: `a2a/${streamRequestId}`, returns: false },
        async ({ signal, release }) => ({ updates: followTask(deps, opened, { signal, to }), release }),
      );
      try {
        const task = opened.fold.task();
        if (task !== undefined) yield updateOf({ task });
        for await (const update of updates) yield updateOf(update);
      } finally {
        release();
      }
    } catch (error) {
      throw named(error);
    }
  }

  async function pushOf<Result>(
    taskId: string,
    use: (configs: NonNullable<typeof push>, task: Run) => Promise<Result>,
  ): Promise<Result> {
    if (push === undefined) throw new errors.PushNotificationNotSupportedError();
    return use(push, await tasks.find(taskId));
  }

  return {
    get fault() {
      return fault;
    },
    get error() {
      return failure;
    },
    getAgentCard: async () => cardOf(sdk, deps, agent, origin),
    getAuthenticatedExtendedAgentCard: () =>
      run(false, async () => {
        throw new errors.UnsupportedOperationError({ message: 'There is no extended card.' });
      }),
    sendMessage: (params, context) =>
      run(true, async () => {
        activate(context);
        const { returnImmediately = false, historyLength } = params.configuration ?? {};
        const opened = await (returnImmediately ? take(params) : wait(() => take(params), 'interrupted'));
        return taskOf(opened, historyLength);
      }),
    async *sendMessageStream(params, context) {
      activate(context);
      yield* stream(() => run(true, () => take(params)), 'answerable');
    },
    getTask: ({ id, historyLength }) =>
      run(false, async () => {
        checkHistoryLength(historyLength);
        return taskOf(await tasks.open(await tasks.find(id)), historyLength);
      }),
    cancelTask: ({ id }) =>
      run(true, async () => {
        const found = await tasks.find(id);
        if (!(await tasks.stop(found))) throw new errors.TaskNotCancelableError();
        const open = () => tasks.open(found);
        const opened = await wait(open, 'terminal').catch((error: unknown) => {
          // The task was stopped: without a free place the reply does not wait for its end.
          if (isParleyError(error, 'rate_limited')) return open();
          throw error;
        });
        return taskOf(opened, undefined);
      }),
    async *resubscribe({ id }) {
      yield* stream(
        () =>
          run(false, async () => {
            const opened = await tasks.open(await tasks.find(id));
            if (hasEnded(opened))
              throw new errors.UnsupportedOperationError({ message: 'The task has ended; get it instead.' });
            return opened;
          }),
        'terminal',
      );
    },
    listTasks: (params: ListTasksRequest) =>
      run(false, async () => {
        const listed = (opened: OpenedTask) => shownOf(opened, params.historyLength);
        return listPage(core, { ...tasks, taskOf: listed }, params);
      }),
    createTaskPushNotificationConfig: (config, context) =>
      run(true, () =>
        pushOf(config.taskId, (push, task) => push.put(task, config, context.requestedVersion)),
      ),
    getTaskPushNotificationConfig: ({ taskId, id }, { requestedVersion }) =>
      run(false, () =>
        pushOf(taskId, (push, task) =>
          id === '' && requestedVersion === LEGACY ? push.first(task) : push.get(task, id),
        ),
      ),
    listTaskPushNotificationConfigs: ({ taskId }) =>
      run(false, () =>
        pushOf(taskId, async (push, task) => ({ configs: [...(await push.list(task))], nextPageToken: '' })),
      ),
    deleteTaskPushNotificationConfig: ({ taskId, id }) =>
      run(true, () => pushOf(taskId, (push, task) => push.remove(task, id))),
  };
}
