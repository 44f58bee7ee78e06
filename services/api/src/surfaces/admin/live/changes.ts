import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { TenantChange, TenantChanges, TenantSignal } from '@parley/shared/ports/tenant-changes';

// A reader with more pending changes than this gets `reload` instead of them.
const PENDING_MAX = 1_000;

/**
 * The changes in a tenant from now on. A slow reader gets only the latest change of each record and turn; one that is too far
 * behind gets `reload`. Ends when the signal is aborted, by throwing its reason.
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

/** The changes that a reader has not taken yet, one for each record and turn. */
function createPending() {
  const changes = new Map<string, TenantChange>();
  let isReload = false;

  return {
    add(item: TenantSignal): void {
      if (item.type === 'reload' || changes.size >= PENDING_MAX) {
        // The reader fetches the lists again, which include these changes.
        changes.clear();
        isReload = true;
      }
      if (item.type === 'reload') return;
      const { kind, userId, id } = item.change;
      const name = JSON.stringify([kind, userId, id]);
      const before = changes.get(name);
      // The reader does not know yet that it began, so the change is still reported as a beginning.
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
