/**
 * Receives the updates that remote agents push about tasks which this deployment delegated. Reading the task is in
 * `agents/a2a`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import { jsonIn } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { type RequestHead, rawBody, route, type Surface } from '../../http/route.ts';
import { unauthenticated } from '../../http/token.ts';

/** An address for push updates about one task that this deployment issued. */
interface OpenedAddress {
  /** True for the token that the sender must present. */
  readonly isToken: (text: string) => boolean;
  readonly isTask: (taskId: string) => boolean;
  /** Counts an update against the task's budget. Throws `rate_limited`. */
  readonly admit: () => Promise<void>;
  /** Lets the pod that owns the task's run read the task. Returns false if the turn has ended. */
  readonly wake: () => Promise<boolean>;
}

interface ReceivedPushDeps {
  /** Opens an issued address. Undefined for any other address. */
  readonly open: (address: string) => Promise<OpenedAddress | undefined>;
}

/** Addresses for remote agents are below this path. */
export const PUSHED_PATH = '/run/a2a-pushed';
const BODY_BYTES_MAX = 1024 * 1024;

const TaskId = z.looseObject({ taskId: z.string() });
/** Updates in the format of A2A 1.0. */
const Update = z.looseObject({
  task: z.looseObject({ id: z.string() }).optional(),
  message: TaskId.optional(),
  statusUpdate: TaskId.optional(),
  artifactUpdate: TaskId.optional(),
});
/** A bare event of A2A 0.3. A task has `id`; updates of a task have `taskId`. */
const LegacyEvent = z.looseObject({
  kind: z.string(),
  id: z.string().optional(),
  taskId: z.string().optional(),
});

/**
 * Receives push updates of remote agents about tasks of this deployment. Only the task's id in an update is used; the call that
 * delegated the task then reads it.
 */
export function receivedPushRoutes({ open }: ReceivedPushDeps): Surface {
  return {
    routes: [
      route<undefined, Buffer, OpenedAddress>({
        method: 'POST',
        path: `${PUSHED_PATH}/:address`,
        cors: 'never',
        proof: {
          by: 'signature',
          async verifierOf({ address = '' }) {
            const opened = await open(address);
            return opened && ((_body, head) => proven(opened, head));
          },
        },
        body: rawBody(BODY_BYTES_MAX),
        docs: {
          group: 'A2A',
          summary: 'Push an update of a task that Parley has delegated',
          description:
            'For remote agents: Parley gives them the address and a token. The token is proven by `X-A2A-Notification-Token` or as a bearer token. Of the update only the id of the task is used. See docs/a2a.md.',
          headers: { 'X-A2A-Notification-Token': 'The token; absent where it is in `Authorization`.' },
          example: {
            body: { statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_COMPLETED' } } },
            reply: '',
          },
          replies: { 204: { description: 'The task is read' } },
          errors: ['not_found', 'too_large', 'rate_limited', 'expired'],
        },
        async handle({ caller, body }) {
          const update = readUpdate(body);
          if (update === undefined)
            throw new ParleyError('invalid_request', 'The body is no update of a task.');
          if (!caller.isTask(update.taskId))
            throw new ParleyError('not_found', 'The address is for another task.');
          // Artifacts arrive often and in pieces. They are read at the end of the task.
          if (update.isArtifact) return { type: 'empty', status: 204 };
          await caller.admit();
          if (await caller.wake()) return { type: 'empty', status: 204 };
          throw new ParleyError('expired', 'The turn of the task has ended.');
        },
      }),
    ],
  };
}

/** The address, if the sender presents its token in one of the headers that may contain it. Throws `unauthenticated`. */
function proven(address: OpenedAddress, { headers }: RequestHead): OpenedAddress {
  const { authorization, 'x-a2a-notification-token': own } = headers;
  const bearer = authorization === undefined ? undefined : (/^Bearer (.+)$/i.exec(authorization)?.[1] ?? '');
  const given = [bearer, own].filter((one) => one !== undefined).map(String);
  if (given.length === 0 || !given.every((one) => address.isToken(one))) throw unauthenticated();
  return address;
}

function readUpdate(body: Buffer): { readonly taskId: string; readonly isArtifact: boolean } | undefined {
  const value = jsonIn(body.toString('utf8'));
  const legacy = LegacyEvent.safeParse(value).data;
  if (legacy !== undefined) {
    const taskId = legacy.kind === 'task' ? legacy.id : legacy.taskId;
    return taskId === undefined ? undefined : { taskId, isArtifact: legacy.kind === 'artifact-update' };
  }
  const { task, message, statusUpdate, artifactUpdate } = Update.safeParse(value).data ?? {};
  const taskId = task?.id ?? (statusUpdate ?? message ?? artifactUpdate)?.taskId;
  return taskId === undefined ? undefined : { taskId, isArtifact: artifactUpdate?.taskId === taskId };
}
