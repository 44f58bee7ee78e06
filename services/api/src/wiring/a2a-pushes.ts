import { randomBytes } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import { faultOfUrl } from '@parley/core/domain/url';
import type { Env } from '@parley/shared/config/env';
import type { Backend } from '@parley/shared/ports/backend';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import { createPushAddresses, hasDigest, type PushAddresses } from '@parley/shared/vault/push-address';
import { createVault } from '@parley/shared/vault/vault';
import type { PushesOf } from '../agents/a2a/call-agent.ts';
import { createCallWaker, type OwnedCall, runOfCall } from '../agents/a2a/follow/wake-call.ts';
import type { Surface } from '../http/route.ts';
import { PUSHED_PATH, receivedPushRoutes } from '../surfaces/a2a/received-pushes.ts';
import type { PodParts } from './pod-parts.ts';

/** The rate limit for push updates about one task. */
const RATE = { points: 50, windowSeconds: 10 };
const TOKEN_BYTES = 32;

type PushParts = Pick<PodParts, 'env' | 'backend'>;

/** The address at which remote agents reach this deployment, and the keys that seal the addresses given to them. */
function receiverOf(
  env: Env,
  { vault: store }: Pick<Backend, 'vault'>,
): { readonly origin: string; readonly addresses: PushAddresses } | undefined {
  const url = env.PARLEY_A2A_URL ?? env.PARLEY_PUBLIC_URL;
  const { keys } = env.PARLEY_VAULT_KEYS.length === 0 ? {} : parseVaultKeys(env.PARLEY_VAULT_KEYS);
  const isUsable =
    url !== undefined && faultOfUrl(url, { allowLoopbackHttp: env.NODE_ENV !== 'production' }) === undefined;
  if (!isUsable || keys === undefined) return undefined;
  return { origin: new URL(url).origin, addresses: createPushAddresses(createVault({ store, keys })) };
}

/** Makes the push subscriptions of calls. Undefined without a public address or without vault keys. */
export function wirePushesOf({ env, backend }: PushParts): PushesOf | undefined {
  const receiver = receiverOf(env, backend);
  if (receiver === undefined) return undefined;
  const { origin, addresses } = receiver;
  const wakeCall = createCallWaker(backend);
  return (call) => ({
    async addressOf(taskId) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const address = await addresses.seal({ ...call, taskId, token });
      return { url: `${origin}${PUSHED_PATH}/${address}`, token };
    },
    subscribe(onPush) {
      const subscription = backend.pushedCalls.subscribe(runOfCall(call), (signal) => {
        if (signal.type === 'resync') onPush(true);
        else if (signal.event.callKey === call.callKey) onPush(false);
      });
      return () => subscription.unsubscribe();
    },
    async forward() {
      await wakeCall(call);
    },
  });
}

/** The route to which remote agents push; none if they are given no address. */
export function wireReceivedPushes({ env, backend, metrics }: PodParts): Surface[] {
  const receiver = receiverOf(env, backend);
  if (receiver === undefined) return [];
  const { addresses } = receiver;
  const wakeCall = createCallWaker(backend);

  async function admit({ tenant, userId, callKey }: OwnedCall): Promise<void> {
    const verdict = await backend.limits.take(`a2a-pushed:${callKey}`, { tenant, userId }, RATE);
    if (verdict.allowed) return;
    metrics.rateLimited.add(1, { limit: 'a2a-pushed' });
    const { retryAfterSeconds } = verdict;
    throw new ParleyError('rate_limited', 'Too many pushes; wait and try again.', { retryAfterSeconds });
  }

  return [
    receivedPushRoutes({
      async open(text) {
        const address = await addresses.open(text);
        return (
          address && {
            isToken: (token) => hasDigest(token, address.tokenDigest),
            isTask: (taskId) => hasDigest(taskId, address.taskDigest),
            admit: () => admit(address),
            wake: () => wakeCall(address),
          }
        );
      },
    }),
  ];
}
