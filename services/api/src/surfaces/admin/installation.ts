import { ParleyError } from '@parley/core/domain/errors';
import { operatorOf } from '@parley/shared/domain/caller';
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
  queues: [{ name: 'expiry', waiting: 0, active: 0, delayed: 31, failed: 0 }],
  canaryAgeSeconds: 6,
  servers: [{ role: 'master', version: '7.4.1', usedMemoryBytes: 61_341_696, maxMemoryBytes: 1_073_741_824 }],
  deadLetters: 0,
};

/** What runs, for keys with the scope `admin`, and for operators where the deployment has one tenant. */
export function installationRoute(deps: AdminDeps, cached: BriefCache): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/installation',
    proof: operator('admin'),
    docs: {
      group: 'Operations',
      summary: 'Read what runs: pods, queues and Redis',
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
  const [leases, queues, servers, deadLetters, { timerCanaryAgeMs }] = await Promise.all([
    deps.heartbeats.leases(PODS_MAX),
    deps.installation.queues(),
    deps.installation.servers(),
    deps.deadLetters.count(tenant),
    deps.health(),
  ]);
  return {
    pods: podsOf(leases),
    queues: [...queues],
    ...(timerCanaryAgeMs !== undefined && { canaryAgeSeconds: Math.floor(timerCanaryAgeMs / 1_000) }),
    servers: [...servers],
    deadLetters,
  };
}

/** Pods by name. A process has a lease for its turns and one for its streams, and a pod that began anew has new ones. */
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
