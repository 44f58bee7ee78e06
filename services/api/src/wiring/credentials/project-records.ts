import { PROJECT } from '@parley/shared/domain/credential';
import type { VaultStore } from '@parley/shared/ports/vault';

/** Pods with an earlier configuration may still use a record, for as long as an upgrade lasts. */
const UNUSED_MS = 7 * 24 * 60 * 60_000;

/** Which connector obtains the token of a server, by the server's id. */
type UsedConnectors = ReadonlyMap<string, { readonly connectorId: string }>;

/**
 * Deletes the project's tokens that this configuration does not use and no pod has renewed for a week. Returns how many there
 * were. Throws `unavailable`.
 */
export async function deleteUnusedTokens(
  store: Pick<VaultStore, 'listOf' | 'read' | 'remove'>,
  used: UsedConnectors,
): Promise<number> {
  const { credentials } = await store.listOf(PROJECT);
  let deleted = 0;
  for (const ref of credentials) {
    if (used.get(ref.toolId)?.connectorId === ref.connectorId) continue;
    const stored = await store.read(ref);
    if (stored !== undefined && stored.now - stored.savedAt < UNUSED_MS) continue;
    // One that a pod has renewed since it was read stays.
    if (await store.remove(ref, stored?.version ?? 0)) deleted += 1;
  }
  return deleted;
}
