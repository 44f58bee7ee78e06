import { createMemoryBackend } from '@parley/shared/memory/backend';
import { InProcessEventBus } from '@parley/shared/memory/event-bus';
import { createMemoryDeadLetters } from '@parley/shared/memory/outbox/dead-letters';
import type { Pods, Store, ToolApproval } from './pods.ts';

/** The memory backend: one pod, which stands for both. */
export const memoryStore: Store = {
  hasLine: false,
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
