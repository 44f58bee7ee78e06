import type { CliEnv } from '../env.ts';
import { type Finding, fault, fine } from './finding.ts';
import { jsonOf, probe } from './probe.ts';

type Environment = CliEnv['all'];

/** Checks the settings in the environment of a pod, except those of Redis. */
export async function checkSettings(env: Environment): Promise<readonly Finding[]> {
  const found = await Promise.all([checkJwks(env), checkIssuer(env)]);
  return [...found.flat(), ...checkQueues(env)];
}

async function checkJwks({ PARLEY_JWT_JWKS_URL: url }: Environment): Promise<readonly Finding[]> {
  if (url === undefined || url === '') return [];
  const probed = await probe(url);
  const { keys } = await jsonOf(probed);
  if (Array.isArray(keys) && keys.length > 0) return [fine('jwks', `${keys.length} keys`)];
  const why = 'why' in probed ? probed.why : `it replies with ${probed.reply.status} and no keys`;
  return [fault('jwks', 'jwks_unreachable', `The keys of the sign-in provider cannot be read: ${why}.`)];
}

async function checkIssuer({ PARLEY_CONNECT_OIDC_ISSUER: issuer }: Environment): Promise<readonly Finding[]> {
  if (issuer === undefined || issuer === '') return [];
  const probed = await probe(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const { issuer: theirs } = await jsonOf(probed);
  if (theirs === issuer) return [fine('sign-in provider', issuer)];
  if (typeof theirs === 'string')
    return [fault('sign-in provider', 'issuer_differs', `It calls itself ${theirs}.`)];
  const why = 'why' in probed ? probed.why : `it replies with ${probed.reply.status}`;
  return [fault('sign-in provider', 'issuer_unreachable', `It cannot be read: ${why}.`)];
}

function checkQueues({
  PARLEY_REDIS_CLUSTER: cluster = '',
  PARLEY_TIMER_QUEUES: queues,
}: Environment): readonly Finding[] {
  if (cluster === '' || Number(queues || 1) > 1) return [];
  return [fault('timers', 'one_timer_queue', 'One node of the Cluster has all timers.', 'unknown')];
}
