/**
 * Defines every metric of a process in one place, so that names, labels and buckets stay consistent. When a metric is counted
 * is decided by the observers and callers.
 */

import type { Meter } from '@opentelemetry/api';
import type { EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import { MODES, type Mode, type TerminalStatus } from '@parley/core/domain/elicitations/status';
import { PUSH_OUTCOMES, type PushOutcome } from '../delivery/a2a-push/deliver.ts';
import { WEBHOOK_OUTCOMES, type WebhookOutcome } from '../ports/delivery/webhook-observer.ts';
import type { WakeSource } from '../ports/elicitations/observer.ts';
import { instrumentFactories } from './metrics/factories.ts';
import { observeGauges } from './metrics/gauges.ts';
import {
  ANSWERS,
  APPROVAL_OUTCOMES,
  createTenantLabel,
  LIMITS,
  type LimitName,
  OUTCOMES,
  REFRESHES,
  SOURCES,
  type SurfaceLabel,
  TRIGGERS,
  type Trigger,
  TURN_ENDS,
} from './metrics/metric-labels.ts';
import { createNamedMeter, type MetricNames } from './metrics/named-meter.ts';

// These buckets are in seconds. They end at the default deadline of a question, and at the delay after which a wake no longer
// feels live.
const WAIT_BUCKETS = [1, 5, 15, 60, 300, 600];
const WAKE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const LATE_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const TENANTS_MAX = 100;

/** The instruments of a process. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The names of the instruments, and the limit of their series. */
export interface MetricsOptions {
  /** How many tenants get series of their own. */
  readonly tenantsMax?: number;
  /** With `both`, each instrument also has the name that earlier builds used. */
  readonly names?: MetricNames;
}

/** The environment variables of metrics. */
interface MetricVariables {
  readonly PARLEY_LIMIT_METRIC_TENANTS: number;
  readonly PARLEY_METRICS_NAMES: MetricNames;
}

/** The options that the environment sets. */
export function metricsOptions({
  PARLEY_LIMIT_METRIC_TENANTS: tenantsMax,
  PARLEY_METRICS_NAMES: names,
}: MetricVariables): MetricsOptions {
  return { tenantsMax, names };
}

/** All instruments of a process. infra/telemetry/metrics.json describes each. Times are in seconds. */
export function createMetrics(
  meter: Meter,
  { tenantsMax = TENANTS_MAX, names = 'prefixed' }: MetricsOptions = {},
) {
  const make = instrumentFactories(createNamedMeter(meter, names));
  return {
    tenantLabel: createTenantLabel(tenantsMax),
    ...recordInstruments(make),
    ...processInstruments(make),
    ...turnInstruments(make),
    /** Sets the sources of the gauges. A gauge without a source is NaN. */
    observe: observeGauges(make.gauge),
  };
}

type Factories = ReturnType<typeof instrumentFactories>;

/** Instruments for elicitations and approvals. */
function recordInstruments(make: Factories) {
  return {
    tenantOutcomes: make.counter<{ tenant: string; outcome: TerminalStatus }>(
      'tenant_outcomes',
      'Terminal states reached, by tenant.',
      OUTCOMES.map((outcome) => ({ tenant: 'other', outcome })),
    ),
    requests: make.counter<{ mode: Mode; trigger: Trigger; surface: SurfaceLabel }>(
      'elicitation_requests',
      'Questions asked.',
      MODES.flatMap((mode) => TRIGGERS.map((trigger) => ({ mode, trigger, surface: 'api' as const }))),
    ),
    responses: make.counter<{ outcome: TerminalStatus; surface: SurfaceLabel }>(
      'elicitation_responses',
      'Answers taken, by what they said.',
      ANSWERS.map((outcome) => ({ outcome, surface: 'api' })),
    ),
    outcomes: make.counter<{ trigger: Trigger; outcome: TerminalStatus }>(
      'elicitation_outcomes',
      'Terminal states reached, by why the question was asked.',
      TRIGGERS.flatMap((trigger) => OUTCOMES.map((outcome) => ({ trigger, outcome }))),
    ),
    approvalRequests: make.counter('approval_requests', 'Calls of tools that a person was asked to approve.'),
    approvalOutcomes: make.counter<{ outcome: EndedApprovalStatus; surface: SurfaceLabel }>(
      'approval_outcomes',
      'Approvals that ended, by how and where.',
      APPROVAL_OUTCOMES.map((outcome) => ({ outcome, surface: 'other' as const })),
    ),
    waitDuration: make.histogram('elicitation_wait_duration', 'From ask to terminal state.', WAIT_BUCKETS),
    wakeLatency: make.histogram(
      'elicitation_wake_latency',
      'From settling to the waiter waking, across pods.',
      WAKE_BUCKETS,
    ),
    expiredLate: make.histogram(
      'elicitation_expired_late',
      'Between a deadline and the expiry being recorded.',
      LATE_BUCKETS,
    ),
    wakeSource: make.counter<{ source: WakeSource }>(
      'elicitation_wake_source',
      'What woke a waiter.',
      SOURCES.map((source) => ({ source })),
    ),
  };
}

/** Instruments for the process, its streams and requests, its repairs and deliveries. */
function processInstruments(make: Factories) {
  return {
    sseConnections: make.upDown('sse_connections', 'Open event streams on this pod.'),
    sseResumes: make.counter('sse_resumes', 'Streams opened with a Last-Event-ID.'),
    redisCommandErrors: make.counter('redis_command_errors', 'Redis commands that failed or timed out.'),
    timerScheduleFailures: make.counter(
      'timer_schedule_failures',
      'Jobs of deadlines that could not be added.',
    ),
    sweepFailures: make.counter('sweep_failures', 'Overdue questions that the sweep could not expire.'),
    sweepExpired: make.counter('sweep_expired', 'Questions that the sweep had to expire.'),
    indexRepairs: make.counter('index_repairs', 'Index entries that had to be repaired.'),
    cleanupRemoved: make.counter(
      'cleanup_removed',
      'Keys that the cleanup had to remove after their retention.',
    ),
    webhookDeliveries: make.counter<{ outcome: WebhookOutcome }>(
      'webhook_deliveries',
      'Attempts at webhooks, by what came of them.',
      WEBHOOK_OUTCOMES.map((outcome) => ({ outcome })),
    ),
    a2aPushes: make.counter<{ outcome: PushOutcome }>(
      'a2a_pushes',
      'Attempts to push an update of an A2A task, by what came of them.',
      PUSH_OUTCOMES.map((outcome) => ({ outcome })),
    ),
    /** `route` is the pattern of the route, never the path. `status` is the HTTP status code. */
    httpRequests: make.counter<{ route: string; method: string; status: number }>(
      'http_requests',
      'HTTP requests by route pattern.',
    ),
    httpRequestDuration: make.histogram<{ route: string; method: string }>(
      'http_request_duration',
      'To answer an HTTP request, streams included.',
      HTTP_BUCKETS,
    ),
    rateLimited: make.counter<{ limit: LimitName }>(
      'rate_limited',
      'Requests refused by a limit.',
      LIMITS.map((limit) => ({ limit })),
    ),
    identityMismatch: make.counter(
      'identity_mismatch',
      'Signed-in people on a connect page that was made for another user.',
    ),
    toolUnauthorized: make.counter('tool_unauthorized', 'Tool servers refusing a credential that was sent.'),
    credentialRefreshes: make.counter<{ outcome: (typeof REFRESHES)[number] }>(
      'credential_refreshes',
      'Calls to authorization servers for new tokens.',
      REFRESHES.map((outcome) => ({ outcome })),
    ),
  };
}

function turnInstruments(make: Factories) {
  return {
    tenantTurns: make.counter<{ tenant: string; outcome: (typeof TURN_ENDS)[number] }>(
      'tenant_turns',
      'Turns that ended on this pod, by tenant.',
      TURN_ENDS.map((outcome) => ({ tenant: 'other', outcome })),
    ),
    turns: make.counter<{ outcome: (typeof TURN_ENDS)[number] }>(
      'turns',
      'Turns of agents that ended on this pod.',
      TURN_ENDS.map((outcome) => ({ outcome })),
    ),
    turnsTakenOver: make.counter(
      'turns_taken_over',
      'Runs that this pod took over from another one, or from the queue.',
    ),
    turnsRunning: make.upDown(
      'turns_running',
      'Turns of agents that run on this pod, waiting ones included.',
    ),
  };
}
