import type { Env } from '@parley/shared/config/env';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Log } from '@parley/shared/observe/log';
import type { Metrics } from '@parley/shared/observe/metrics';
import type { Backend } from '@parley/shared/ports/backend';
import type { Authenticate } from '../http/auth.ts';
import type { CallLimits } from '../http/limits/call-limits.ts';

/** The dependencies from which the parts of a pod are wired. */
export interface PodParts {
  readonly env: Env;
  readonly version: string;
  readonly backend: Backend;
  readonly engine: Engine;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
}
