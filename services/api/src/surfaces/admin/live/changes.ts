import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { TenantChange, TenantChanges, TenantSignal } from '@parley/shared/ports/tenant-changes';

// A reader with more pending changes than this gets `reload` in place of them.
const PENDING_MAX = 1_000;

/**
 * What changes in a tenant from now on. A reader that is slow gets the latest change of each record and turn; one that is far behind gets
 * `reload`. Ends when the signal is aborted, by throwing its reason.
 */
export async function* changesOf(
  tenantChanges: TenantChanges,
  tenant: string,
  signal: AbortSignal,
): AsyncGenerator<TenantSignal, void> {
  const wake = new WakeSignal(signal);
  const pending = createPending();
  const stop = tenantChanges.watch(tenant, (item) => {
    pending.add(item);
    wake.notify();
  });
  try {
    for (;;) {
      yield* pending.take();
      await wake.sleep(Number.POSITIVE_INFINITY);
      wake.woken();
    }
  } finally {
    stop();
    wake.close();
  }
}

/** What a reader has not taken yet, one item for each record and turn. */
function createPending() {
  const changes = new Map<string, TenantChange>();
  let isReload = false;

  return {
    add(item: TenantSignal): void {
      if (item.type === 'reload' || changes.size >= PENDING_MAX) {
        // The lists that the reader reads again hold these changes.
        changes.clear();
        isReload = true;
      }
      if (item.type === 'reload') return;
      const { kind, userId, id } = item.change;
      const name = JSON.stringify([kind, userId, id]);
      const before = changes.get(name);
      // The reader has not heard of the begin yet, so the change is still told as a begin.
      const change =
        before?.change === 'began' && item.change.change === 'changed' ? 'began' : item.change.change;
      changes.delete(name);
      changes.set(name, { ...item.change, change });
    },
    take(): TenantSignal[] {
      const items: TenantSignal[] = isReload ? [{ type: 'reload' }] : [];
      for (const change of changes.values()) items.push({ type: 'change', change });
      isReload = false;
      changes.clear();
      return items;
    },
  };
}
