import { faultOfUrl } from '@parley/core/domain/url';
import { a2aSigningKeyOf } from '@parley/shared/config/a2a-env';
import { A2A_PUSH, deliverTask } from '@parley/shared/delivery/a2a-push/store';
import { mayBeCalled } from '@parley/shared/net/guarded-fetch';
import { createPushStoreOf } from '@parley/shared/runtime/a2a-push';
import type { LoadedAgentsConfig } from '../agents/config/load.ts';
import type { Surface } from '../http/route.ts';
import type { OfferedAgent } from '../surfaces/a2a/deps.ts';
import { createPushConfigs, type PushConfigs } from '../surfaces/a2a/push.ts';
import { a2aRoutes } from '../surfaces/a2a/routes.ts';
import type { Turns } from '../turns/turns.ts';
import { createAuthentication } from './authentication.ts';
import type { PodParts } from './pod-parts.ts';

// The maximum wait of a request. It is shorter than the minute after which common proxies end a silent request.
const WAIT_MS = 50_000;

/**
 * The agents that a configuration offers to A2A clients. The default agent comes first, because its card is the deployment's.
 */
export function agentsForA2a({ config }: LoadedAgentsConfig): readonly OfferedAgent[] {
  const offered = (config.a2aOffer?.agents ?? []).map(({ agent: id, description, answers }) => {
    const agent = config.agents[id];
    const title = agent?.title ?? id;
    const takesImages = config.models[agent?.model ?? '']?.images !== undefined;
    return { id, title, description: description ?? `The agent ${title}.`, answers, takesImages };
  });
  const isDefault = ({ id }: OfferedAgent) => id === config.defaultAgent;
  return [...offered.filter(isDefault), ...offered.filter((one) => !isDefault(one))];
}

/** Builds the A2A surface; undefined if no agent is offered. */
export function wireA2a(
  { env, version, backend, engine, limits, log }: PodParts,
  turns: Turns,
  agents: readonly OfferedAgent[],
): Surface[] {
  if (agents.length === 0) return [];
  const url = env.PARLEY_A2A_URL ?? env.PARLEY_PUBLIC_URL;
  const push = wirePush(env, backend);
  const privateKey = a2aSigningKeyOf(env);
  return [
    a2aRoutes({
      engine,
      limits,
      turns,
      agents,
      version,
      records: backend.ownerRecords.a2a,
      authenticate: createAuthentication(env, log, env.PARLEY_A2A_AUDIENCE),
      ...(url !== undefined && { origin: new URL(url).origin }),
      ...(privateKey !== undefined && { signer: { privateKey } }),
      ...(push !== undefined && { push }),
      hopsMax: env.PARLEY_A2A_HOPS,
      answerMs: env.PARLEY_RETENTION_SECONDS * 1000,
      waitMs: WAIT_MS,
      onFault: (error) => log.error({ err: error }, 'A2A request failed unexpectedly'),
    }),
  ];
}

/** The push notifications of tasks; undefined without vault keys. */
export function wirePush(env: PodParts['env'], backend: PodParts['backend']): PushConfigs | undefined {
  const store = createPushStoreOf(env, backend);
  if (store === undefined) return undefined;
  const isDevelopment = env.NODE_ENV !== 'production';
  return createPushConfigs({
    ...store,
    async put(task, target) {
      const slot = await store.put(task, target);
      const { tenant, userId, streamRequestId } = task;
      const stream = { tenant, userId, streamRequestId };
      // The subscription is stored first. The delivery task then delivers what was committed before it.
      await backend.subscriptions.add(stream, A2A_PUSH, store.keepMs);
      await backend.outbox.add(deliverTask(stream, slot), tenant);
    },
    faultOfUrl(url) {
      const fault = faultOfUrl(url, { allowLoopbackHttp: isDevelopment });
      if (fault !== undefined) return fault;
      return mayBeCalled(url, { allowLoopback: isDevelopment })
        ? undefined
        : 'must not name a private address';
    },
  });
}
