import { composeChecks } from './compose.ts';
import { dockerfileChecks } from './dockerfile.ts';
import { imageChecks } from './images.ts';
import { kubernetesChecks } from './kubernetes/checks.ts';
import { proxyChecks } from './proxy.ts';
import { redisChecks } from './redis.ts';
import { settingsChecks } from './settings.ts';
import { telemetryChecks } from './telemetry.ts';
import type { Check } from './verdict.ts';

/** Every check, quick ones first; `images` asks for the slow one that builds them. */
export function allChecks({ images }: { readonly images: boolean }): readonly Check[] {
  return [
    ...dockerfileChecks,
    ...composeChecks,
    ...proxyChecks,
    ...settingsChecks,
    ...kubernetesChecks,
    ...telemetryChecks,
    ...redisChecks,
    ...imageChecks(images),
  ];
}
