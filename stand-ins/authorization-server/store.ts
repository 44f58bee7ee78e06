import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';

/** Everything that a stand-in authorization server stores, in this process. */
export interface AuthorizationStore {
  readonly adapter: (model: string) => Adapter;
  /** Ids of grants that ended because a code or refresh token was used a second time. */
  readonly reusedFamilies: Set<string>;
  /** Ends every grant of a user and all its tokens. Returns the number of grants. */
  revokeUser(userId: string): number;
}

/**
 * Stores oidc-provider's data. The package's own memory adapter is not used: it forgets data beyond a thousand entries, which
 * many simultaneous sign-ins exceed, and it lets two simultaneous refreshes both succeed. Here, the second one ends the family.
 */
export function createAuthorizationStore(): AuthorizationStore {
  const rows = new Map<string, AdapterPayload>();
  const reusedFamilies = new Set<string>();

  function endGrant(grantId: string): void {
    rows.delete(`Grant:${grantId}`);
    for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
  }

  function adapter(model: string): Adapter {
    const keyOf = (id: string) => `${model}:${id}`;
    const findBy = (fits: (row: AdapterPayload) => boolean) => {
      for (const [key, row] of rows) if (key.startsWith(`${model}:`) && fits(row)) return row;
      return undefined;
    };
    return {
      upsert: async (id, payload) => void rows.set(keyOf(id), payload),
      find: async (id) => rows.get(keyOf(id)),
      findByUid: async (uid) => findBy((row) => row.uid === uid),
      findByUserCode: async (userCode) => findBy((row) => row.userCode === userCode),
      destroy: async (id) => void rows.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => endGrant(grantId),
      async consume(id) {
        const row = rows.get(keyOf(id));
        if (row?.consumed === undefined) {
          if (row !== undefined) row.consumed = Math.floor(Date.now() / 1000);
          return;
        }
        if (row.grantId !== undefined) {
          reusedFamilies.add(row.grantId);
          endGrant(row.grantId);
        }
        throw new errors.InvalidGrant('used a second time');
      },
    };
  }

  return {
    adapter,
    reusedFamilies,
    revokeUser(userId) {
      const ids = [...rows]
        .filter(([key, row]) => key.startsWith('Grant:') && row.accountId === userId)
        .map(([key]) => key.slice('Grant:'.length));
      for (const id of ids) endGrant(id);
      const own = [...rows].filter(
        ([key, row]) => key.startsWith('ClientCredentials:') && row.clientId === userId,
      );
      for (const [key] of own) rows.delete(key);
      return ids.length + own.length;
    },
  };
}
