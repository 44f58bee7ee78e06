import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import type { Env } from '../config/variables.ts';
import type { SendPush } from '../delivery/a2a-push/deliver.ts';
import {
  createPushStore,
  type PushSeals,
  type PushStore,
  type PushTarget,
} from '../delivery/a2a-push/store.ts';
import type { WireUpdate } from '../domain/a2a/wire.ts';
import { createGuardedFetch, GuardedFetchError } from '../net/guarded-fetch.ts';
import type { Backend } from '../ports/backend.ts';
import { parseVaultKeys } from '../vault/key-ring.ts';
import { pushIdentity } from '../vault/records.ts';
import { seal, unseal } from '../vault/seal.ts';

// The time limit of one update, including name resolution.
const PUSH_TIMEOUT_MS = 15_000;

/**
 * The push targets of A2A tasks. Undefined without vault keys, because targets contain credentials and are stored only sealed.
 */
export function createPushStoreOf(
  env: Env,
  { ownerRecords }: Pick<Backend, 'ownerRecords'>,
): PushStore | undefined {
  const { keys } = env.PARLEY_VAULT_KEYS.length === 0 ? {} : parseVaultKeys(env.PARLEY_VAULT_KEYS);
  if (keys === undefined) return undefined;
  const seals: PushSeals = {
    seal: (task, text) => seal(keys, pushIdentity(task), text),
    unseal(task, sealed) {
      try {
        return unseal(keys, pushIdentity(task), sealed);
      } catch {
        return undefined;
      }
    },
  };
  const keepMs = (env.PARLEY_RETENTION_SECONDS + TIMEOUT_SECONDS_MAX) * 1000;
  return createPushStore({ records: ownerRecords.pushes, seals, keepMs });
}

const FINAL_FAULTS: ReadonlySet<string> = new Set(['refused_url', 'refused_address']);
const GONE = 410;

/** Sends updates of tasks, only to public addresses. */
export function createPushSender({ allowLoopback }: { readonly allowLoopback: boolean }): SendPush {
  const guardedFetch = createGuardedFetch({ timeoutMs: PUSH_TIMEOUT_MS, body: 'ignored', allowLoopback });
  return async (target, update) => {
    const { body, contentType } = await bodyOf(target, update);
    try {
      const headers = { 'content-type': contentType, 'user-agent': 'Parley', ...proofOf(target) };
      const { status } = await guardedFetch({ url: target.url, method: 'POST', headers, body });
      if (status >= 200 && status < 300) return 'delivered';
      return status === GONE ? 'final' : 'failed';
    } catch (error) {
      return error instanceof GuardedFetchError && FINAL_FAULTS.has(error.code) ? 'final' : 'failed';
    }
  };
}

/** The headers that prove Parley's identity to the receiver. */
function proofOf({ token, authentication }: PushTarget): Record<string, string> {
  return {
    ...(token !== '' && { 'x-a2a-notification-token': token }),
    ...(authentication !== undefined && {
      authorization: `${authentication.scheme} ${authentication.credentials}`,
    }),
  };
}

async function bodyOf({ version }: PushTarget, update: WireUpdate) {
  if (version === '1.0') return { body: JSON.stringify(update), contentType: 'application/a2a+json' };
  const [{ StreamResponse }, { V03PushNotificationSerializer }] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/compat/v0_3/server'),
  ]);
  const { body } = new V03PushNotificationSerializer().serialize(StreamResponse.fromJSON(update));
  return { body: typeof body === 'string' ? body : JSON.stringify(body), contentType: 'application/json' };
}
