import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '../history/events.ts';
import { isTerminal } from '../history/outcome.ts';
import type { HistoryRecorder } from '../history/recorder.ts';
import { userToken } from '../tokens.ts';
import { waitUntil } from '../wait-until.ts';
import { follow } from './follower.ts';
import { SECRET, TENANTS } from './load-env.ts';

const TOKEN_SECONDS = 4 * 3_600;
// Readers on a busy machine lag; an event that has not arrived by then counts as lost.
const BEHIND_MS = 30_000;
// A duplicate event arrives within this time.
const LINGER_MS = 1_000;

/** Creates people without questions so far: the same user ids in every tenant, tenants in turn. */
export function createCrowd(users: number): readonly Owner[] {
  const crowd = randomUUID().slice(0, 8);
  return Array.from({ length: users }, (_, index) =>
    TENANTS.map((tenant) => ({ tenant, userId: `user-${crowd}-${index}` })),
  ).flat();
}

/** The stream request of a person; the same name in every tenant. */
export function streamOf({ userId }: Owner): string {
  return `turn-of-${userId}`;
}

/** User tokens, each made once; valid for pods whose clocks are an hour off. */
export function createTokenCache(): (owner: Owner) => Promise<string> {
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

/** Has every person read their stream, with disconnects and reconnects. */
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

/** Stops the readers once they have received every end that was read; the checker reports ends that never arrive. */
export async function stopOnceNotified(
  { events }: HistoryRecorder,
  followers: readonly { stop(): Promise<void> }[],
  behindMs = BEHIND_MS,
): Promise<void> {
  const endedIn = (type: 'final' | 'stream-event') =>
    new Set(
      events.flatMap((event) =>
        event.type === type && isTerminal(event.status) ? [event.elicitationId] : [],
      ),
    );
  const ended = endedIn('final');
  const isTold = () => {
    const notified = endedIn('stream-event');
    return [...ended].every((id) => notified.has(id));
  };
  const patience = { what: 'the last ends to reach their readers', timeoutMs: behindMs, everyMs: 250 };
  await waitUntil(isTold, patience).catch(() => undefined);
  await sleep(LINGER_MS);
  await Promise.all(followers.map((follower) => follower.stop()));
}
