import { DETACHED, type RunHead, UNOWNED } from '@parley/shared/domain/runs/run';
import { z } from 'zod';
import { ownerView } from '../../../turns/principal.ts';
import { podOf } from '../../../turns/timeline.ts';

const Time = z.iso.datetime();

/**
 * The states of a turn. The first four are not final: it is on a pod, waits for a pod, waits for a person, or its pod is gone.
 */
export const TURN_STATES = [
  'running',
  'queued',
  'detached',
  'orphaned',
  'finished',
  'failed',
  'stopped',
] as const;
type TurnState = (typeof TURN_STATES)[number];

/** A turn as an operator sees it. */
export const AdminTurn = z
  .object({
    streamRequestId: z.string(),
    userId: z.string().optional().describe('Absent for the turn of a service key.'),
    key: z.string().optional().describe('The service key whose turn it is.'),
    conversationId: z.string(),
    agent: z.string(),
    state: z
      .enum(TURN_STATES)
      .describe(
        '`queued`: waits for a pod. `detached`: waits for its person on no pod. `orphaned`: its pod is gone, and another one takes it over.',
      ),
    stopping: z.boolean().optional().describe('It was asked to stop.'),
    pod: z.string().optional(),
    term: z.int(),
    takeOvers: z.int().describe('How many of its pods have died.'),
    startedAt: Time,
    endedAt: Time.optional(),
    restsUntil: Time.optional().describe('A detached turn goes on at this time at the latest.'),
    parent: z.string().optional().describe('The turn for which a delegate works.'),
  })
  .meta({ id: 'AdminTurn' });
export type AdminTurn = z.infer<typeof AdminTurn>;

/** A run, and its state according to the lease of its pod. */
export interface SeenTurn {
  readonly head: RunHead;
  readonly state: TurnState;
}

/** The state of a run. `isAlive`: the pod that owns it has a lease. */
export function stateOfTurn(
  { status, owner }: Pick<RunHead, 'status' | 'owner'>,
  isAlive: boolean,
): TurnState {
  if (status !== 'running') return status;
  if (owner === UNOWNED) return 'queued';
  if (owner === DETACHED) return 'detached';
  return isAlive ? 'running' : 'orphaned';
}

/** The fields to show are listed, so that no text of people or models is shown. */
export function turnView({ head, state }: SeenTurn): AdminTurn {
  return {
    streamRequestId: head.streamRequestId,
    ...ownerView(head),
    conversationId: head.conversationId,
    agent: head.agent,
    state,
    ...(head.isStopping && head.status === 'running' && { stopping: true }),
    ...podOf(head.owner),
    term: head.term,
    takeOvers: head.takeOvers,
    startedAt: new Date(head.startedAt).toISOString(),
    ...(head.endedAt !== undefined && { endedAt: new Date(head.endedAt).toISOString() }),
    ...(state === 'detached' &&
      head.restsUntil !== undefined && { restsUntil: new Date(head.restsUntil).toISOString() }),
    ...(head.parent !== undefined && { parent: head.parent.streamRequestId }),
  };
}
