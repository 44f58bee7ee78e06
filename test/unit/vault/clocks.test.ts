import { createMemoryVaultStore } from '@parley/shared/memory/vault-store';
import type { VaultStore } from '@parley/shared/ports/vault';
import { createRefresher } from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import { afterEach, expect, it, vi } from 'vitest';
import { endedTokens, newKeys, newRef } from '../../harness/vault/stores.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const clock = Date.now;
const offsetClock = (offsetMs: number) => vi.spyOn(Date, 'now').mockImplementation(() => clock() + offsetMs);

afterEach(() => vi.restoreAllMocks());

/** A store whose clock is right, whatever the clocks of the pods say. */
function storeOf(): VaultStore {
  const store = createMemoryVaultStore();
  return {
    ...store,
    now: async () => clock(),
    async read(ref) {
      const stored = await store.read(ref);
      return stored && { ...stored, savedAt: clock(), now: clock() };
    },
  };
}

it.each([
  ['by a pod whose clock is behind, and read by one that is right', -HOUR_MS, 0, 10, 'access 0'],
  ['by a pod whose clock is right, and read by one that is ahead', 0, HOUR_MS, 10, 'access 0'],
  ['by a pod whose clock is ahead, and read by one that is behind', HOUR_MS, -HOUR_MS, -10, 'access 1'],
])('tokens end by the clock of the store: saved %s', async (_what, saverMs, readerMs, minutes, token) => {
  const store = storeOf();
  const vault = createVault({ store, keys: newKeys() });
  const ref = newRef();
  const spy = offsetClock(saverMs);
  await vault.save(ref, { ...endedTokens(), expiresAt: Date.now() + minutes * MINUTE_MS });
  spy.mockRestore();
  offsetClock(readerMs);
  const fresh = await createRefresher({ vault, leases: store })(ref, async () => ({
    ...endedTokens('refresh 1'),
    accessToken: 'access 1',
    expiresAt: Date.now() + HOUR_MS,
  }));
  expect(fresh.status === 'usable' && fresh.credential.reveal()).toMatchObject({ accessToken: token });
});
