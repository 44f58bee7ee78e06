/** The route that shows which pods and workers run. What one tenant contains is shown by the other routes. */

import { ParleyError } from '@parley/core/domain/errors';
import { operatorOf } from '@parley/shared/domain/caller';
import type { WorkerStanding } from '@parley/shared/ports/installation';
import { z } from 'zod';
import { json, operator, type Route, route } from '../../http/route.ts';
import type { AdminDeps } from './deps.ts';
import type { BriefCache } from './figures/brief-cache.ts';

const PODS_MAX = 200;

const AdminInstallation = z
  .object({
    pods: z
      .array(
        z.object({
          name: z.string(),
          isAlive: z.boolean().describe('False: its lease has lapsed, and its turns wait for another pod.'),
        }),
      )
      .describe(
        `Pods by their names, at most ${PODS_MAX} leases of them. One that is gone for good is soon forgotten.`,
      ),
    workers: z
      .array(
        z.object({
          name: z.string(),
          isAlive: z.boolean().describe('False: it has reported nothing for half a minute.'),
          startedAt: z.iso.datetime(),
          queues: z.array(z.string()).describe('Queues of deadlines that it serves.'),
          running: z.array(z.string()).describe('Kinds of jobs and of maintenance that are under way.'),
          rounds: z
            .array(z.object({ work: z.string(), at: z.iso.datetime() }))
            .describe('When its last round of each kind of maintenance ended. Workers take turns.'),
        }),
      )
      .describe(
        'Workers by their names, as they report every ten seconds. One that is gone is forgotten after an hour.',
      ),
    queues: z.array(
      z.object({
        name: z.string(),
        waiting: z.int(),
        active: z.int(),
        delayed: z.int(),
        failed: z.int(),
      }),
    ),
    canaryAgeSeconds: z
      .int()
      .optional()
      .describe(
        'How long ago a worker last ran the job that proves that deadlines run; absent: not within a day.',
      ),
    servers: z
      .array(
        z.object({
          role: z.string().optional(),
          version: z.string().optional(),
          usedMemoryBytes: z.int().optional(),
          maxMemoryBytes: z.int().optional().describe('Absent where there is no limit.'),
        }),
      )
      .describe('Redis: one server, or the masters of a Cluster. What it refuses to tell is absent.'),
    deadLetters: z.int().describe('Webhooks of this tenant that were given up.'),
  })
  .meta({
    id: 'AdminInstallation',
    description: 'The parts of the installation, as far as Redis knows them.',
  });
type AdminInstallation = z.infer<typeof AdminInstallation>;

const SAMPLE: AdminInstallation = {
  pods: [
    { name: 'parley-api-1', isAlive: true },
    { name: 'parley-api-2', isAlive: true },
  ],
  workers: [
    {
      name: 'parley-worker-1',
      isAlive: true,
      startedAt: '2026-01-15T08:00:00.000Z',
      queues: ['timers-0'],
      running: [],
      rounds: [{ work: 'sweep', at: '2026-01-15T09:29:58.000Z' }],
    },
  ],
  queues: [{ name: 'expiry', waiting: 0, active: 0, delayed: 31, failed: 0 }],
  canaryAgeSeconds: 6,
  servers: [{ role: 'master', version: '7.4.1', usedMemoryBytes: 61_341_696, maxMemoryBytes: 1_073_741_824 }],
  deadLetters: 0,
};

/**
 * The route that shows what is running, for keys with the scope `admin`. Operators may use it if the deployment has one tenant.
 */
export function installationRoute(deps: AdminDeps, cached: BriefCache): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/installation',
    proof: operator('admin'),
    docs: {
      group: 'Operations',
      summary: 'Read what runs: pods, workers, queues and Redis',
      description:
        'Sums over all tenants, without their names; operators may read them where the deployment has one tenant. A reply may be five seconds old.',
      example: { reply: SAMPLE },
      replies: { 200: { description: 'As it stands', schema: AdminInstallation } },
    },
    async handle({ caller, admitted }) {
      if (operatorOf(caller) !== undefined && !deps.hasOneTenant)
        throw new ParleyError(
          'forbidden',
          'This deployment has several tenants: what it runs is for service keys with the scope admin.',
        );
      await admitted;
      const { tenant } = caller;
      return json(200, await cached(`installation ${tenant}`, () => readInstallation(deps, tenant)));
    },
  });
}

async function readInstallation(deps: AdminDeps, tenant: string): Promise<AdminInstallation> {
  const [leases, workers, queues, servers, deadLetters, { timerCanaryAgeMs }] = await Promise.all([
    deps.heartbeats.leases(PODS_MAX),
    deps.installation.workers(),
    deps.installation.queues(),
    deps.installation.servers(),
    deps.deadLetters.count(tenant),
    deps.health(),
  ]);
  return {
    pods: podsOf(leases),
    workers: workers.map(workerView),
    queues: [...queues],
    ...(timerCanaryAgeMs !== undefined && { canaryAgeSeconds: Math.floor(timerCanaryAgeMs / 1_000) }),
    servers: [...servers],
    deadLetters,
  };
}

function workerView({ startedAt, rounds, queues, running, ...worker }: WorkerStanding) {
  return {
    ...worker,
    startedAt: new Date(startedAt).toISOString(),
    queues: [...queues],
    running: [...running],
    rounds: rounds.map(({ work, at }) => ({ work, at: new Date(at).toISOString() })),
  };
}

/** Pods by name. A process has one lease for its turns and one for its streams, and a restarted pod has new ones. */
function podsOf(
  leases: readonly { readonly pod: string; readonly isAlive: boolean }[],
): AdminInstallation['pods'] {
  const pods = new Map<string, boolean>();
  for (const { pod, isAlive } of leases) {
    const name = pod.slice(0, pod.lastIndexOf('/') < 0 ? undefined : pod.lastIndexOf('/'));
    pods.set(name, isAlive || pods.get(name) === true);
  }
  return [...pods].map(([name, isAlive]) => ({ name, isAlive })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
