import { createMemoryVaultStore } from '@parley/shared/memory/vault-store';
import type { VaultPods } from '../harness/vault/stores.ts';
import { vaultContract } from './suite.ts';

vaultContract('the vault in memory', async (): Promise<VaultPods> => {
  let store = createMemoryVaultStore();
  return {
    get stores() {
      return [store, store, store] as const;
    },
    async dump() {
      const values: string[] = [];
      for await (const page of store.scan()) values.push(...page.map((record) => JSON.stringify(record)));
      return values;
    },
    async empty() {
      store = createMemoryVaultStore();
    },
    close: async () => undefined,
  };
});
