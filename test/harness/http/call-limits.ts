import type { Limits } from '@parley/shared/ports/limits';
import {
  type CallLimitDeps,
  type CallLimitSettings,
  createCallLimits,
} from '../../../services/api/src/http/limits/call-limits.ts';

const ROOMY_CALLS: CallLimitSettings = {
  userWrites: 1e6,
  userStreams: 1e6,
  elicitationAnswers: 1e6,
  serviceCalls: 1e6,
  userReads: 1e6,
  userReadBytes: 1e9,
  userWriteBytes: 1e9,
  serviceWriteBytes: 1e9,
  serviceReadBytes: 1e9,
  tenantReads: 1e6,
  operatorCalls: 1e6,
};

/** The budgets of calls of one pod. No test meets a limit unless it sets its own. */
export function callLimitsOn(
  limits: Limits,
  settings: Partial<CallLimitSettings> = {},
  deps: Partial<Omit<CallLimitDeps, 'limits' | 'settings'>> = {},
) {
  return createCallLimits({
    limits,
    settings: { ...ROOMY_CALLS, ...settings },
    holder: { owner: 'pod', hasLapsed: async () => false },
    onRefused: () => undefined,
    ...deps,
  });
}
