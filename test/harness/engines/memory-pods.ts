import { createMemoryBackend } from '@parley/shared/memory/backend';
import { InProcessEventBus } from '@parley/shared/memory/event-bus';
import { createMemoryDeadLetters } from '@parley/shared/memory/outbox/dead-letters';
import { createMemoryVaultStore } from '@parley/shared/memory/vault-store';
import type { Pods, Store, ToolApproval } from './pods.ts';

/** The memory backend: one pod, which stands for both. */
export const memoryStore: Store = {
  hasLine: false,
  async openVault() {
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
  },
  async open(settings): Promise<Pods> {
    const backend = createMemoryBackend(settings);
    return {
      backend,
      second: backend,
      settings,
      async approvals() {
        const bus = new InProcessEventBus<ToolApproval>();
        const cut = () => {
          throw new Error('There is no line to cut within one process.');
        };
        return { first: bus, second: bus, cut, close: async () => undefined };
      },
      async deadLetters(keepMs) {
        const letters = createMemoryDeadLetters({ keepMs });
        return { first: letters, second: letters, close: async () => undefined };
      },
      close: () => backend.close(),
    };
  },
};
