import type { Lease } from '@parley/shared/runs/lease';
import { type CallLimits, createCallLimits } from '../http/limits/call-limits.ts';
import type { PodParts } from './pod-parts.ts';

interface LimitParts extends Pick<PodParts, 'env' | 'backend' | 'metrics'> {
  /** The name under which this pod holds stream places, and its lease on them. */
  readonly owner: string;
  readonly lease: Lease;
}

/** The budgets of callers, with the limits from the environment. */
export function createLimits({ env, backend, metrics, owner, lease }: LimitParts): CallLimits {
  return createCallLimits({
    limits: backend.limits,
    settings: {
      userWrites: env.PARLEY_LIMIT_USER_WRITES,
      userStreams: env.PARLEY_LIMIT_USER_STREAMS,
      elicitationAnswers: env.PARLEY_LIMIT_ELICITATION_ANSWERS,
      serviceCalls: env.PARLEY_LIMIT_SERVICE_CALLS,
      userReads: env.PARLEY_LIMIT_USER_READS,
      userReadBytes: env.PARLEY_LIMIT_USER_READ_BYTES,
      userWriteBytes: env.PARLEY_LIMIT_USER_WRITE_BYTES,
      serviceWriteBytes: env.PARLEY_LIMIT_SERVICE_WRITE_BYTES,
      serviceReadBytes: env.PARLEY_LIMIT_SERVICE_READ_BYTES,
      tenantReads: env.PARLEY_LIMIT_TENANT_READS,
      operatorCalls: env.PARLEY_LIMIT_OPERATOR_CALLS,
    },
    holder: { owner, hasLapsed: lease.hasLapsed },
    onRefused: (limit) => metrics.rateLimited.add(1, { limit }),
  });
}
