import { z } from 'zod';
import { ownerView } from '../../../turns/principal.ts';
import type { SeenDelivery } from './load.ts';

const Time = z.iso.datetime();

/** The states of a delivery. */
export const DELIVERY_STATES = ['waiting', 'under_way', 'retrying', 'dead'] as const;

/** A delivery as an operator sees it: without its content, and with only the host of its address. */
export const AdminDelivery = z
  .object({
    deliveryId: z.string().describe('Of a webhook, the `webhook-id` that its receiver sees.'),
    kind: z.string().describe('`webhook`, `a2a` (updates of an A2A task), or a channel such as `slack`.'),
    state: z
      .enum(DELIVERY_STATES)
      .describe(
        '`waiting`: not tried yet; `under_way`: a process has it; `retrying`: an attempt failed or was put off, and another one follows; `dead`: a webhook that was given up.',
      ),
    target: z.string().optional().describe('The host of the receiver, where the delivery has an address.'),
    elicitationId: z.string().optional(),
    approvalId: z.string().optional(),
    streamRequestId: z.string().optional().describe('The turn, or the stream request of the record.'),
    userId: z
      .string()
      .optional()
      .describe('Absent for the turn of a service key, and where the record is gone.'),
    key: z.string().optional().describe('The service key whose turn it is.'),
    attempts: z.int().describe('How many attempts have failed.'),
    lastError: z.string().optional().describe('Why the last one failed or was put off: a code.'),
    lastStatus: z.int().optional().describe('What the receiver replied with last, if it did.'),
    notedAt: Time.optional().describe('Since when it is outstanding.'),
    nextAttemptAt: Time.optional().describe('When it is due; the past, where it waits for a worker.'),
    diedAt: Time.optional().describe('When it was given up.'),
  })
  .meta({ id: 'AdminDelivery' });
export type AdminDelivery = z.infer<typeof AdminDelivery>;

/** The fields to show are listed, so that no other field is shown. */
export function deliveryView({
  id,
  kind,
  about,
  target,
  standing,
  letter,
  at,
  now,
}: SeenDelivery): AdminDelivery {
  const failure =
    letter === undefined ? standing?.failure : { code: letter.lastError, status: letter.lastStatus };
  return {
    deliveryId: id,
    kind,
    state: stateOf({ standing, letter }),
    ...(target !== undefined && { target }),
    ...whoseOf(about),
    attempts: letter?.attempts ?? standing?.attempts ?? 0,
    ...(failure !== undefined && { lastError: failure.code }),
    ...(failure?.status !== undefined && { lastStatus: failure.status }),
    ...(letter === undefined ? { notedAt: timeOf(at) } : { diedAt: timeOf(letter.diedAt) }),
    ...(standing !== undefined && !standing.isLeased && { nextAttemptAt: timeOf(now + standing.dueInMs) }),
  };
}

/** The state of a delivery according to what is stored. */
export function stateOf({
  standing,
  letter,
}: Pick<SeenDelivery, 'standing' | 'letter'>): AdminDelivery['state'] {
  if (letter !== undefined) return 'dead';
  if (standing?.isLeased === true) return 'under_way';
  return (standing?.attempts ?? 0) > 0 || standing?.failure !== undefined ? 'retrying' : 'waiting';
}

function whoseOf({ elicitationId, approvalId, stream }: SeenDelivery['about']): Partial<AdminDelivery> {
  return {
    ...(elicitationId !== undefined && { elicitationId }),
    ...(approvalId !== undefined && { approvalId }),
    ...(stream !== undefined && { streamRequestId: stream.streamRequestId, ...ownerView(stream) }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
