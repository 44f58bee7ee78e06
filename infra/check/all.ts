import { dockerChecks } from './docker.ts';
import { kubernetesChecks } from './kubernetes.ts';
import { proxyChecks } from './proxy.ts';
import { redisChecks } from './redis.ts';
import { settingsChecks } from './settings.ts';
import { telemetryChecks } from './telemetry.ts';
import type { Check } from './verdict.ts';

/** Every check of the infrastructure files. */
export const allChecks: readonly Check[] = [
  ...dockerChecks,
  ...proxyChecks,
  ...settingsChecks,
  ...kubernetesChecks,
  ...telemetryChecks,
  ...redisChecks,
];
