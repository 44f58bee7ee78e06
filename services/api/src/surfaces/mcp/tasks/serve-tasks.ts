import { ProtocolError, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { DETACHED, type Run } from '@parley/shared/domain/runs/run';
import { z } from 'zod';
import { userOf } from '../../../http/reply.ts';
import type { RouteCall } from '../../../http/route.ts';
import { principalOf } from '../../../turns/principal.ts';
import type { Calls } from '../calls.ts';
import { showsOfEnvelope } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { RPC, rpcErrorOf } from '../json-rpc.ts';
import { recordAnswers } from '../modern/answers.ts';
import { protocolErrorOf } from '../server.ts';
import { knowsTasks, tasksMissing, unknownTask } from './extension.ts';
import { findTask, readTask } from './task.ts';

const Named = z.looseObject({ taskId: z.string() });

interface TasksDeps extends McpDeps {
  readonly calls: Pick<Calls, 'releaseTask'>;
}

type Served = Readonly<Record<string, unknown>>;

/** Serves `tasks/get`, `tasks/update` and `tasks/cancel` of one request, on any pod. */
export function serveTasks(server: Server, deps: TasksDeps, call: RouteCall): void {
  async function serve(taskId: string, { mcpReq }: ServerContext, act: (run: Run) => Promise<Served>) {
    try {
      if (!knowsTasks(mcpReq.envelope)) throw tasksMissing();
      await call.admitted;
      const run = await findTask(deps, { ...principalOf(userOf(call.caller)), streamRequestId: taskId });
      if (run === undefined) throw unknownTask();
      return await act(run);
    } catch (error) {
      throw mcpReq.signal.aborted ? error : protocolErrorOf(error, deps.onFault);
    }
  }

  server.setRequestHandler('tasks/get', { params: Named }, ({ taskId }, ctx) =>
    serve(taskId, ctx, async (run) => {
      const { head, state } = await readTask(deps, run, showsOfEnvelope(ctx.mcpReq.envelope));
      if (run.status !== 'running') await deps.calls.releaseTask(run);
      // Nobody else may follow a task whose pod has died.
      else if (run.owner !== DETACHED) await deps.turns.isRunning(run);
      return { ...head, ...state };
    }),
  );
  server.setRequestHandler('tasks/update', { params: Named }, ({ taskId }, ctx) =>
    serve(taskId, ctx, async (run) => {
      // The SDK takes them out of the parameters.
      const [misfit] = await recordAnswers(deps, call, run, ctx.mcpReq.inputResponses ?? {});
      if (misfit === undefined) return {};
      const { message, data } = rpcErrorOf(misfit);
      throw new ProtocolError(RPC.invalidParams, message, data);
    }),
  );
  server.setRequestHandler('tasks/cancel', { params: Named }, ({ taskId }, ctx) =>
    serve(taskId, ctx, async (run) => {
      if (run.status === 'running') await deps.turns.stop(run);
      await deps.calls.releaseTask(run);
      return {};
    }),
  );
}
