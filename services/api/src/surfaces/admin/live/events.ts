import { whenAborted } from '@parley/shared/async/release-on-abort';
import {
  CHANGE_WORDS,
  CHANGED_KINDS,
  type TenantChange,
  type TenantSignal,
} from '@parley/shared/ports/tenant-changes';
import { z } from 'zod';
import { sampleEvents } from '../../../http/docs/samples.ts';
import type { Route } from '../../../http/route.ts';
import type { SseFrameEvent } from '../../../http/sse.ts';
import { ownerView } from '../../../turns/principal.ts';
import { adminRoute } from '../admin-route.ts';
import type { AdminDeps } from '../deps.ts';
import { changesOf } from './changes.ts';

/** The data of an event: the ids of what changed, without content. */
export const AdminChange = z
  .object({
    kind: z.enum(CHANGED_KINDS),
    id: z
      .string()
      .describe('The record, or the stream request of the turn; of a delivery, the one that it is about.'),
    change: z.enum(CHANGE_WORDS).describe('`changed`: it has not ended.'),
    at: z.iso.datetime().describe('On the Redis clock.'),
    userId: z
      .string()
      .optional()
      .describe('Absent for the turn of a service key, and for the delivery of a record.'),
    key: z.string().optional().describe('The service key whose turn it is.'),
  })
  .meta({ id: 'AdminChange' });
type AdminChange = z.infer<typeof AdminChange>;

const SAMPLE: AdminChange = {
  kind: 'elicitation',
  id: 'el_0gT3fMv7Qx2LrK8sYbWnHc4D',
  change: 'began',
  at: '2026-01-15T09:30:00.000Z',
  userId: 'alice',
};

/** The stream of changes in a tenant. */
export function eventsRoute({
  tenantChanges,
  watchers,
}: Pick<AdminDeps, 'tenantChanges' | 'watchers'>): Route {
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/events',
    opensStream: true,
    docs: {
      summary: 'Follow what changes in a tenant',
      description:
        'Events `change` name each question, approval and turn that begins, changes or ends, and each delivery that ends, fails or is begun again, without its content. What a change of a question notes for delivery is not told beside it. The first event is `reload`: changes from now on are told, so read your lists. Another one comes wherever changes may have been missed. A stream that is opened again begins with `reload`, too. A reader that is slow gets the latest change of each.',
      example: { reply: sampleEvents(['reload', undefined, {}], ['change', undefined, SAMPLE]) },
      replies: { 200: { description: 'Server-sent events; data is JSON', events: true } },
    },
    async handle({ caller, signal }) {
      const release = watchers.take(caller);
      // The caller may disconnect before the first event is asked for.
      whenAborted(signal, release);
      return {
        type: 'events',
        isFollowed: true,
        events: toEvents(changesOf(tenantChanges, caller.tenant, signal), { signal, release }),
      };
    },
  });
}

interface OpenStream {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

async function* toEvents(
  items: AsyncIterable<TenantSignal>,
  { signal, release }: OpenStream,
): AsyncGenerator<SseFrameEvent, 'cut'> {
  try {
    for await (const item of items)
      yield item.type === 'reload'
        ? { event: 'reload', data: {} }
        : { event: 'change', data: viewOf(item.change) };
    return 'cut';
  } catch (error) {
    if (!signal.aborted) throw error;
    return 'cut';
  } finally {
    release();
  }
}

function viewOf({ kind, id, change, at, userId }: TenantChange): AdminChange {
  return {
    kind,
    id,
    change,
    at: new Date(at).toISOString(),
    ...(userId !== undefined && ownerView({ userId })),
  };
}
