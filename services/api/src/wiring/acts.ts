import { keyIdOf, operatorOf } from '@parley/shared/domain/caller';
import type { OnAct } from '../http/proof/acts.ts';
import type { PodParts } from './pod-parts.ts';

/** Writes a log line for each act of an operator. */
export function createActLog(log: PodParts['log']): OnAct {
  return (act, caller) => {
    const operator = operatorOf(caller);
    const key = operator === undefined ? keyIdOf(caller) : undefined;
    log.info({ ...act, tenant: caller.tenant, key, operator }, 'operator acted');
  };
}
