import type { RedisDiagnosis } from '@parley/server/diagnosis';
import { diagnoseEnvironment } from '../dev/find-redis.ts';
import type { CliEnv } from '../env.ts';
import { checkClock } from './check-server.ts';
import { type Finding, fault, fine, unseen } from './finding.ts';
import { memoryFindings } from './memory.ts';

const SLOW_MS = 50;

/** Checks every Redis that the environment names. */
export async function checkRedis(env: CliEnv['all']): Promise<readonly Finding[]> {
  const looks = await diagnoseEnvironment(env);
  if ('faults' in looks) return looks.faults.map((text) => fault('redis', 'settings_invalid', text));
  if (looks.found.length === 0)
    return [unseen('redis', 'no setting names one here; the server may have its own')];
  return looks.found.flatMap(({ isVault, key, diagnosis }) =>
    findingsOfRedis(isVault ? 'redis of the vault' : 'redis', diagnosis, key),
  );
}

/** The faults of a Redis. Its clock is compared with that of this machine. */
export function findingsOfRedis(
  check: string,
  diagnosis: RedisDiagnosis,
  key = 'REDIS_URL',
): readonly Finding[] {
  const { address, fault: broken, server = 'a Redis of an unknown version', timeMs, state } = diagnosis;
  if (broken !== undefined) return [{ check, verdict: 'wrong', code: broken.code, key, text: broken.text }];
  return [
    fine(check, `${address} is ${server}`),
    checkClock(`clock of ${check}`, timeMs ?? Number.NaN),
    ...evictionFindings(check, diagnosis),
    ...(state === undefined ? [] : stateFindings(check, address, state)),
  ];
}

function evictionFindings(
  check: string,
  { address, evictionPolicy = 'noeviction', state }: RedisDiagnosis,
): readonly Finding[] {
  if (evictionPolicy !== 'noeviction')
    return [fault(check, 'evicts', `${address} removes keys when its memory is full, open questions too.`)];
  const evicted = state?.evictedKeys ?? 0;
  return evicted > 0 ? [fault(check, 'evicted', `${address} has removed ${evicted} keys.`, 'unknown')] : [];
}

function stateFindings(
  check: string,
  address: string,
  state: NonNullable<RedisDiagnosis['state']>,
): readonly Finding[] {
  const { usesAof, writesFail, refusedConnections = 0, commandMs } = state;
  return [
    ...memoryFindings(check, state),
    ...(usesAof === false
      ? [fault(check, 'aof_off', `${address} writes no append-only file.`, 'unknown')]
      : []),
    ...(writesFail ? [fault(check, 'write_failed', `${address} could not write to its disk.`)] : []),
    ...(refusedConnections > 0
      ? [
          fault(
            check,
            'connections_refused',
            `${address} has refused ${refusedConnections} connections.`,
            'unknown',
          ),
        ]
      : []),
    ...(commandMs > SLOW_MS
      ? [fault(check, 'redis_slow', `${address} took ${Math.round(commandMs)} ms for TIME.`, 'unknown')]
      : []),
  ];
}
