import { setTimeout as sleep } from 'node:timers/promises';
import type { OAuthCredential } from '@parley/shared/domain/credential';
import { InvalidGrantError, type RefreshCall } from '@parley/shared/vault/refresh';

/** An authorization server that gives every refresh token once, and ends the whole grant when one is used again. */
export interface RotatingServer {
  readonly refresh: RefreshCall;
  /** Calls so far. */
  readonly calls: number;
  /** True once an old refresh token was used. */
  readonly revoked: boolean;
  /** The tokens it gave last. */
  readonly latest: OAuthCredential;
}

const HOUR_MS = 3_600_000;

/** Starts with `refresh 0` as the current refresh token. It takes a moment to answer, so that calls would overlap. */
export function createRotatingServer(lifeMs = HOUR_MS): RotatingServer {
  let turn = 0;
  let calls = 0;
  let revoked = false;
  const tokens = (): OAuthCredential => ({
    kind: 'oauth2',
    accessToken: `access ${turn}`,
    refreshToken: `refresh ${turn}`,
    tokenType: 'Bearer',
    expiresAt: Date.now() + lifeMs,
  });
  return {
    get calls() {
      return calls;
    },
    get revoked() {
      return revoked;
    },
    get latest() {
      return tokens();
    },
    async refresh({ refreshToken }) {
      calls += 1;
      if (refreshToken !== `refresh ${turn}`) revoked = true;
      if (revoked) throw new InvalidGrantError();
      turn += 1;
      const given = tokens();
      await sleep(20);
      return given;
    },
  };
}
