import { deliverWebhook } from '../delivery/deliver-webhook.ts';
import { createDispatch, type Dispatch } from '../delivery/dispatch.ts';
import { createReceivers } from '../delivery/receivers.ts';
import type { Backend } from '../ports/backend.ts';
import { resumeHandler } from '../runs/resume.ts';
import { backendSettings } from './env.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Env } from './variables.ts';
import { webhookSecretsOf } from './webhook-env.ts';
import { createWebhookObserver } from './webhook-observer.ts';
import { createWebhookSender } from './webhook-sender.ts';

export interface ProcessDispatchDeps {
  readonly env: Env;
  readonly backend: Backend;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Does, in this process, what the outbox has noted: wakes detached turns, and sends webhooks. */
export function createProcessDispatch({ env, backend, log, metrics }: ProcessDispatchDeps): Dispatch {
  const { retentionMs, deadLetterMs } = backendSettings(env);
  const webhooks = {
    ...backend,
    retentionMs,
    deadLetterMs,
    send: createWebhookSender({ allowLoopback: env.NODE_ENV !== 'production' }),
    secretsOf: webhookSecretsOf(env),
    receivers: createReceivers(),
    observer: createWebhookObserver({ log, metrics }),
  };
  return createDispatch({
    outbox: backend.outbox,
    handlers: {
      wake: resumeHandler(backend),
      webhook: ({ elicitationId }, attempt) => deliverWebhook(webhooks, { elicitationId, attempt }),
    },
    onFault: (error, task) =>
      log.warn({ err: error, task }, 'a task of the outbox failed; it is tried again'),
  });
}
