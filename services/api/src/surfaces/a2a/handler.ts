/** The operations of A2A for one call. The bindings are in `bindings.ts`, tasks in `tasks.ts`. */

import type { SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { isParleyError } from '@parley/core/domain/errors';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { notFound } from '@parley/shared/domain/caller';
import type { Run } from '@parley/shared/domain/runs/run';
import type { RouteCall } from '../../http/route.ts';
import { actingCallerOf } from '../../turns/principal.ts';
import { podDraining } from '../../turns/start.ts';
import { cardOf } from './card.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import { a2aErrorOf } from './errors.ts';
import { readMessage } from './message.ts';
import type { PushConfigs } from './push.ts';
import type { Sdk } from './sdk.ts';
import { checkHistoryLength, listPage } from './task-list.ts';
import { createTaskFollower, type OpenedTask, type TaskFollower } from './task-stream.ts';
import { type CallerTasks, createCallerTasks, hasEnded } from './tasks.ts';
import { LEGACY, versionOf } from './version.ts';

/** The request handler of one call, which the SDK's bindings use. */
export interface CallHandler extends A2ARequestHandler {
  /** The error of the call, converted to A2A's name if it has one. */
  readonly error: unknown;
}

interface HandlerParts {
  readonly sdk: Sdk;
  readonly deps: A2aDeps;
  readonly agent: OfferedAgent;
  readonly origin: string;
  readonly call: RouteCall;
}

/**
 * Makes the handler for one call of an agent. Identity, budget and lifetime are those of the call. Only the tasks of the call's
 * person are found.
 */
export function createCallHandler({ sdk, deps, agent, origin, call }: HandlerParts): CallHandler {
  const who = actingCallerOf(call);
  const tasks = createCallerTasks(deps, agent, who);
  let failure: unknown;
  function named(error: unknown): unknown {
    failure = a2aErrorOf(sdk, error);
    return failure;
  }
  const parts: CallParts = {
    sdk,
    deps,
    call,
    tasks,
    named,
    follower: createTaskFollower(deps, agent, { owner: who.owner, whenOver: call.whenOver }),
    async run(writes, operation) {
      try {
        await deps.limits.call(who.caller, writes);
        return await operation();
      } catch (error) {
        throw named(error);
      }
    },
  };
  return {
    get error() {
      return failure;
    },
    getAgentCard: async () => cardOf(sdk, deps, agent, origin),
    getAuthenticatedExtendedAgentCard: () =>
      parts.run(false, async () => {
        throw new sdk.errors.UnsupportedOperationError({ message: 'There is no extended card.' });
      }),
    ...messageCalls(parts),
    ...taskCalls(parts),
    ...pushCalls(parts),
  };
}

/** Shared by the operations of one call. */
interface CallParts {
  readonly sdk: Sdk;
  readonly deps: A2aDeps;
  readonly call: RouteCall;
  readonly tasks: CallerTasks;
  readonly follower: TaskFollower;
  /** Runs one operation: first counts it against the budget, and converts its errors to A2A's names. */
  run<Result>(writes: boolean, operation: () => Promise<Result>): Promise<Result>;
  /** Converts an error to its name in A2A. */
  named(error: unknown): unknown;
}

function messageCalls(parts: CallParts): Pick<A2ARequestHandler, 'sendMessage' | 'sendMessageStream'> {
  const { sdk, follower, run } = parts;

  function activate(context: ServerCallContext): void {
    if (context.requestedExtensions?.includes(ELICITATION_EXTENSION) === true)
      context.addActivatedExtension(ELICITATION_EXTENSION);
  }

  return {
    sendMessage: (params, context) =>
      run(true, async () => {
        activate(context);
        const { returnImmediately = false, historyLength } = params.configuration ?? {};
        const opening = () => takeMessage(parts, params);
        const opened = await (returnImmediately ? opening() : follower.wait(opening, 'interrupted'));
        return taskOf(sdk, opened, historyLength);
      }),
    async *sendMessageStream(params, context) {
      activate(context);
      yield* streamOf(parts, () => run(true, () => takeMessage(parts, params)), 'answerable');
    },
  };
}

/** Begins a task, or answers one. A new task is followed from its first event. */
async function takeMessage(
  { sdk, deps: { push }, call, tasks }: CallParts,
  { message: given, configuration }: SendMessageRequest,
): Promise<OpenedTask> {
  if (call.draining) throw podDraining();
  checkHistoryLength(configuration?.historyLength);
  const message = readMessage(sdk, given);
  const config = configuration?.taskPushNotificationConfig;
  const version = versionOf(call.head);
  if (config !== undefined && push === undefined) throw new sdk.errors.PushNotificationNotSupportedError();
  const found = message.taskId === undefined ? undefined : await tasks.find(message.taskId);
  // This comes before any effect: a message with an invalid push configuration must not change anything.
  if (config !== undefined) await push?.check(config, version, found);
  if (found !== undefined) await tasks.answer(found, message);
  const task = found ?? (await tasks.begin(message)).run;
  if (config !== undefined) await push?.put(task, config, version);
  return tasks.open(found === undefined ? task : await tasks.find(task.streamRequestId));
}

/** The updates of a task, beginning with its current state. */
async function* streamOf(
  { sdk: { core }, follower, named }: CallParts,
  opening: () => Promise<OpenedTask>,
  to: 'terminal' | 'answerable',
): AsyncGenerator<StreamResponse, void> {
  try {
    for await (const update of follower.stream(opening, to)) yield core.StreamResponse.fromJSON(update);
  } catch (error) {
    throw named(error);
  }
}

function taskCalls(
  parts: CallParts,
): Pick<A2ARequestHandler, 'getTask' | 'cancelTask' | 'resubscribe' | 'listTasks'> {
  const { sdk, tasks, follower, run } = parts;
  const { core, errors } = sdk;
  const openNamed = async (id: string) => tasks.open(await tasks.find(id));
  return {
    getTask: ({ id, historyLength }) =>
      run(false, async () => {
        checkHistoryLength(historyLength);
        return taskOf(sdk, await openNamed(id), historyLength);
      }),
    cancelTask: ({ id }) =>
      run(true, async () => {
        const found = await tasks.find(id);
        if (!(await tasks.stop(found))) throw new errors.TaskNotCancelableError();
        const open = () => tasks.open(found);
        const opened = await follower.wait(open, 'terminal').catch((error: unknown) => {
          // The task was stopped. Without a free stream place, the reply does not wait for the end of the task.
          if (isParleyError(error, 'rate_limited')) return open();
          throw error;
        });
        return taskOf(sdk, opened, undefined);
      }),
    async *resubscribe({ id }) {
      const opening = async () => {
        const opened = await openNamed(id);
        if (!hasEnded(opened)) return opened;
        throw new errors.UnsupportedOperationError({ message: 'The task has ended; get it instead.' });
      };
      yield* streamOf(parts, () => run(false, opening), 'terminal');
    },
    listTasks: (params) =>
      run(false, async () => {
        const listed = (opened: OpenedTask) => shownTask(sdk, opened, params.historyLength);
        return listPage(core, { ...tasks, taskOf: listed }, params);
      }),
  };
}

/** A task as it is sent to clients. Undefined if its feed is no longer stored. */
function shownTask({ core }: Sdk, { fold }: OpenedTask, historyLength: number | undefined): Task | undefined {
  const json = fold.task();
  if (json === undefined) return undefined;
  const task = core.Task.fromJSON(json);
  if (historyLength === undefined) return task;
  return { ...task, history: historyLength <= 0 ? [] : task.history.slice(-historyLength) };
}

function taskOf(sdk: Sdk, opened: OpenedTask, historyLength: number | undefined): Task {
  const task = shownTask(sdk, opened, historyLength);
  if (task === undefined) throw notFound();
  return task;
}

function pushCalls({ sdk, deps: { push }, tasks, run }: CallParts) {
  /** Runs an operation on the configurations of a task. */
  function on<Result>(
    taskId: string,
    writes: boolean,
    use: (configs: PushConfigs, task: Run) => Promise<Result>,
  ): Promise<Result> {
    return run(writes, async () => {
      if (push === undefined) throw new sdk.errors.PushNotificationNotSupportedError();
      return use(push, await tasks.find(taskId));
    });
  }

  return {
    createTaskPushNotificationConfig: (config, context) =>
      on(config.taskId, true, (push, task) => push.put(task, config, context.requestedVersion)),
    getTaskPushNotificationConfig: ({ taskId, id }, { requestedVersion }) =>
      on(taskId, false, (push, task) =>
        id === '' && requestedVersion === LEGACY ? push.first(task) : push.get(task, id),
      ),
    listTaskPushNotificationConfigs: ({ taskId }) =>
      on(taskId, false, async (push, task) => ({ configs: [...(await push.list(task))], nextPageToken: '' })),
    deleteTaskPushNotificationConfig: ({ taskId, id }) =>
      on(taskId, true, (push, task) => push.remove(task, id)),
  } satisfies Partial<A2ARequestHandler>;
}
