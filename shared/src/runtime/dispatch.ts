import type { StreamRef } from '@parley/core/domain/ids';
import { backendSettings } from '../config/env.ts';
import type { Env } from '../config/variables.ts';
import { webhookSecretsOf } from '../config/webhooks-env.ts';
import { a2aPushKinds, type PushOutcome } from '../delivery/a2a-push/deliver.ts';
import { deliverWebhook, webhookKind } from '../delivery/deliver-webhook.ts';
import { createDispatch, type Dispatch } from '../delivery/dispatch.ts';
import { createReceivers } from '../delivery/receivers.ts';
import { createWebhookSender } from '../net/webhook-sender.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { createWebhookObserver } from '../observe/webhook-observer.ts';
import type { Backend } from '../ports/backend.ts';
import { resumeRunKind } from '../runs/resume.ts';
import { createPushSender, createPushStoreOf } from './a2a-push.ts';

interface ProcessDispatchDeps {
  readonly env: Env;
  readonly backend: Backend;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Makes the dispatch of this process. Delivery kinds are registered in its list: without an entry here, commits note no task of
 * a kind, and no process handles any.
 */
export function createProcessDispatch({ env, backend, log, metrics }: ProcessDispatchDeps): Dispatch {
  const { retentionMs, deadLetterMs } = backendSettings(env);
  const receivers = createReceivers();
  const webhooks = {
    ...backend,
    retentionMs,
    deadLetterMs,
    send: createWebhookSender({ allowLoopback: env.NODE_ENV !== 'production' }),
    secretsOf: webhookSecretsOf(env),
    receivers,
    observer: createWebhookObserver({ log, metrics }),
  };
  const pushStore = createPushStoreOf(env, backend);
  const a2aPush = {
    ...backend,
    receivers,
    send: createPushSender({ allowLoopback: env.NODE_ENV !== 'production' }),
    onAttempt(outcome: PushOutcome, { streamRequestId }: StreamRef) {
      metrics.a2aPushes.add(1, { outcome });
      if (outcome === 'dropped')
        log.warn(
          { streamRequestId },
          'updates of an A2A task are no longer pushed to a receiver that does not take them',
        );
    },
  };
  return createDispatch({
    outbox: backend.outbox,
    kinds: [
      resumeRunKind(backend),
      webhookKind((input) => deliverWebhook(webhooks, input)),
      ...(pushStore === undefined ? [] : a2aPushKinds({ ...a2aPush, store: pushStore })),
    ],
    onFault: (err, kind) => log.warn({ err, kind }, 'an outbox task failed; it will be tried again'),
  });
}
