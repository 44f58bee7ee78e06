import { PROJECT } from '@parley/shared/domain/credential';
import type { VaultStore } from '@parley/shared/ports/vault';

/**
 * A record is kept at least this long after its last use, because pods with an earlier configuration may still use it during an
 * upgrade.
 */
const UNUSED_MS = 7 * 24 * 60 * 60_000;

/** The connector that obtains a server's token, by the server's id. */
type UsedConnectors = ReadonlyMap<string, { readonly connectorId: string }>;

/**
 * Deletes the project's tokens that this configuration does not use and that no pod has renewed for a week. Returns their
 * number. Throws `unavailable`.
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
    // The version is passed, so that a token which a pod has renewed since stays.
    if (await store.remove(ref, stored?.version ?? 0)) deleted += 1;
  }
  return deleted;
}
