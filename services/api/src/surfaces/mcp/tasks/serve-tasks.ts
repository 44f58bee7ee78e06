import { ProtocolError, type Server, type ServerContext } from '@modelcontextprotocol/server';
import type { StreamRef } from '@parley/core/domain/ids';
import { DETACHED } from '@parley/shared/domain/runs/run';
import { z } from 'zod';
import { userOf } from '../../../http/reply.ts';
import type { RouteCall } from '../../../http/route.ts';
import { principalOf } from '../../../turns/principal.ts';
import type { Calls } from '../calls.ts';
import { showsOfEnvelope } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { RPC, rpcErrorOf } from '../json-rpc.ts';
import { protocolErrorOf } from '../server.ts';
import { recordAnswers } from '../waiting/answers.ts';
import { knowsTasks, tasksMissing, unknownTask } from './extension.ts';
import { findTask, readTask } from './task.ts';

const Named = z.looseObject({ taskId: z.string() });

interface TasksDeps extends McpDeps {
  readonly calls: Pick<Calls, 'releaseTask'>;
}

type Served = Readonly<Record<string, unknown>>;

/** Serves `tasks/get`, `tasks/update` and `tasks/cancel` of one request, on any pod. */
export function serveTasks(server: Server, deps: TasksDeps, call: RouteCall): void {
  /** Finds the task and applies the request to it. */
  async function serve<Found>(
    taskId: string,
    { mcpReq }: ServerContext,
    find: (stream: StreamRef) => Promise<Found | undefined>,
    act: (found: Found) => Promise<Served>,
  ) {
    try {
      if (!knowsTasks(mcpReq.envelope)) throw tasksMissing();
      await call.admitted;
      const found = await find({ ...principalOf(userOf(call.caller)), streamRequestId: taskId });
      if (found === undefined) throw unknownTask();
      return await act(found);
    } catch (error) {
      throw mcpReq.signal.aborted ? error : protocolErrorOf(error, deps.onFault);
    }
  }

  const find = (stream: StreamRef) => findTask(deps, stream);
  const read =
    ({ mcpReq }: ServerContext) =>
    (stream: StreamRef) =>
      readTask(deps, stream, showsOfEnvelope(mcpReq.envelope));

  server.setRequestHandler('tasks/get', { params: Named }, ({ taskId }, ctx) =>
    serve(taskId, ctx, read(ctx), async ({ run, head, state }) => {
      if (run.status !== 'running') await deps.calls.releaseTask(run);
      // If the task's pod has died and nobody else follows the task, this makes another pod continue it.
      else if (run.owner !== DETACHED) await deps.turns.isRunning(run, run);
      return { ...head, ...state };
    }),
  );
  server.setRequestHandler('tasks/update', { params: Named }, ({ taskId }, ctx) =>
    serve(taskId, ctx, find, async (run) => {
      // The SDK moves the answers out of the parameters.
      const [misfit] = await recordAnswers(deps, call, run, ctx.mcpReq.inputResponses ?? {});
      if (misfit === undefined) return {};
      const { message, data } = rpcErrorOf(misfit);
      throw new ProtocolError(RPC.invalidParams, message, data);
    }),
  );
  server.setRequestHandler('tasks/cancel', { params: Named }, ({ taskId }, ctx) =>
    serve(taskId, ctx, find, async (run) => {
      if (run.status === 'running') await deps.turns.stop(run);
      await deps.calls.releaseTask(run);
      return {};
    }),
  );
}
