import { randomUUID } from 'node:crypto';
import type { Owner } from '../harness/history/events.ts';
import type { HistoryRecorder } from '../harness/history/recorder.ts';
import { userToken } from '../harness/tokens.ts';
import { follow } from './follower.ts';
import { SECRET, TENANTS } from './load-env.ts';

const TOKEN_SECONDS = 4 * 3_600;

/** People nobody asked before: the same user ids in every tenant, tenants in turn. */
export function crowdOf(users: number): readonly Owner[] {
  const crowd = randomUUID().slice(0, 8);
  return Array.from({ length: users }, (_, index) =>
    TENANTS.map((tenant) => ({ tenant, userId: `user-${crowd}-${index}` })),
  ).flat();
}

/** The stream request of a person; the same name in every tenant. */
export function streamOf({ userId }: Owner): string {
  return `turn-of-${userId}`;
}

/** User tokens, each made once; good for pods whose clocks are an hour off. */
export function tokenBook(): (owner: Owner) => Promise<string> {
  const tokens = new Map<string, Promise<string>>();
  return ({ tenant, userId }) => {
    const name = `${tenant}/${userId}`;
    const token =
      tokens.get(name) ?? userToken({ secret: SECRET, userId, tenant, expiresInSeconds: TOKEN_SECONDS });
    tokens.set(name, token);
    return token;
  };
}

export interface FollowAllOptions {
  readonly fetch: typeof fetch;
  readonly history: HistoryRecorder;
  readonly owners: readonly Owner[];
  readonly tokenOf: (owner: Owner) => Promise<string>;
}

/** Everybody reads the stream of their turns, coming and going. */
export function followAll({ fetch: fetchFrom, history, owners, tokenOf }: FollowAllOptions) {
  return Promise.all(
    owners.map(async (owner) =>
      follow({
        fetch: fetchFrom,
        history,
        owner,
        token: await tokenOf(owner),
        streamRequestId: streamOf(owner),
        reconnectEveryMs: 2_000,
      }),
    ),
  );
}
