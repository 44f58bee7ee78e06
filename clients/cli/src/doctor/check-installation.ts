import { z } from 'zod';
import { CANARY_SECONDS_MAX, type Target } from './check-server.ts';
import { type Finding, fault, fine, unseen } from './finding.ts';
import { memoryFindings } from './memory.ts';
import { jsonOf, probe } from './probe.ts';

const CHECK = 'installation';
/** More waiting jobs than this mean that workers do not keep up. */
const WAITING_MAX = 1_000;

const Installation = z.object({
  pods: z.array(z.object({ name: z.string(), isAlive: z.boolean() })),
  queues: z.array(z.object({ name: z.string(), waiting: z.number(), failed: z.number() })),
  canaryAgeSeconds: z.number().optional(),
  servers: z.array(
    z.object({ usedMemoryBytes: z.number().optional(), maxMemoryBytes: z.number().optional() }),
  ),
  deadLetters: z.number(),
});
export type Installation = z.infer<typeof Installation>;

/** Checks the installation as the server reports it; the token must be allowed to read that. */
export async function checkInstallation({ baseUrl, token }: Target): Promise<readonly Finding[]> {
  const probed = await probe(`${baseUrl}/v1/admin/installation`, { token });
  if (!('reply' in probed)) return [unseen(CHECK, 'the server did not reply')];
  const { status } = probed.reply;
  if (status === 401) return [];
  if (status === 403) return [fault(CHECK, 'admin_missing', 'This token may not read what runs.', 'unknown')];
  const { data } = Installation.safeParse(await jsonOf(probed));
  if (data === undefined) return [unseen(CHECK, `the server replied with ${status}`)];
  const secretless = data.deadLetters > 0 && (await hasSecretless({ baseUrl, token }));
  return [
    ...findingsOf(data),
    ...(secretless
      ? [fault('webhooks', 'webhook_secret_missing', 'A tenant has no secret for its webhooks.')]
      : []),
  ];
}

async function hasSecretless({ baseUrl, token }: Target): Promise<boolean> {
  const { deadLetters } = await jsonOf(await probe(`${baseUrl}/v1/webhooks/dead-letters`, { token }));
  return Array.isArray(deadLetters) && deadLetters.some((one) => one?.lastError === 'no_secret');
}

/** The faults of an installation. */
export function findingsOf({ pods, queues, servers, ...rest }: Installation): readonly Finding[] {
  const lapsed = pods.filter(({ isAlive }) => !isAlive).map(({ name }) => name);
  const failed = queues.filter((queue) => queue.failed > 0);
  const behind = queues.filter(({ waiting }) => waiting > WAITING_MAX);
  const names = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name).join(', ');
  // Without a separate store, the api also does the worker's work, and there is no canary.
  const age = servers.length === 0 ? 0 : (rest.canaryAgeSeconds ?? Number.POSITIVE_INFINITY);
  const since = Number.isFinite(age) ? `${age} s` : 'a day or more';
  return [
    fine(CHECK, `${pods.length} pods: ${names(pods)}`),
    ...(age > CANARY_SECONDS_MAX
      ? [fault('worker', 'worker_missing', `No worker has run a timer for ${since}.`)]
      : []),
    ...(lapsed.length > 0 ? [fault('pods', 'pods_lapsed', `Gone: ${lapsed.join(', ')}.`, 'unknown')] : []),
    ...(failed.length > 0
      ? [fault('jobs', 'jobs_failed', `Jobs of ${names(failed)} have failed.`, 'unknown')]
      : []),
    ...(behind.length > 0 ? [fault('jobs', 'jobs_behind', `Many jobs of ${names(behind)} wait.`)] : []),
    ...(rest.deadLetters > 0
      ? [fault('webhooks', 'dead_letters', `${rest.deadLetters} webhooks were given up.`)]
      : []),
    ...servers.flatMap((server) => memoryFindings('memory of Redis', server)),
  ];
}
