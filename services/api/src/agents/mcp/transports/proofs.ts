import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isDpop } from '@parley/shared/domain/oauth/challenge';
import { sha256 } from '@parley/shared/records/digest';
import { importJWK, type JWK, SignJWT } from 'jose';

/** The proofs that the requests of one connection own their token (DPoP, RFC 9449). */
interface Proofs {
  /** Adds a new proof to the request. A request without a token needs none. */
  proven(url: URL, init: RequestInit): Promise<ProvenRequest>;
  /** True if the server refused the proof because of its nonce. Keeps the nonce of the reply for the next proof. */
  wantsNonce(reply: Pick<IncomingMessage, 'statusCode' | 'headers'>, sent: ProvenRequest): boolean;
}

/** A request, and the nonce of its proof. */
interface ProvenRequest {
  readonly init: RequestInit;
  readonly nonce?: string | undefined;
}

const ALGORITHM = 'ES256';

/** Makes the proofs of a key, a JWK of the curve P-256. */
export function createProofs(proofKey: string): Proofs {
  const jwk = JSON.parse(proofKey) as JWK;
  const { kty, crv, x, y } = jwk;
  const imported = importJWK(jwk, ALGORITHM);
  // A key that cannot be imported makes the first request reject, so this rejection is ignored.
  imported.catch(() => undefined);
  let nonce: string | undefined;

  return {
    async proven({ origin, pathname }, init) {
      const headers = new Headers(init.headers);
      const [, token] = /^DPoP (.+)$/.exec(headers.get('authorization') ?? '') ?? [];
      if (token === undefined) return { init };
      const used = nonce;
      const proof = await new SignJWT({
        htm: init.method ?? 'GET',
        htu: `${origin}${pathname}`,
        ath: sha256(token),
        ...(used !== undefined && { nonce: used }),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: ALGORITHM, jwk: { kty, crv, x, y } as JWK })
        .setIssuedAt()
        .setJti(randomUUID())
        .sign(await imported);
      headers.set('dpop', proof);
      return { init: { ...init, headers }, nonce: used };
    },
    wantsNonce({ statusCode, headers }, sent) {
      const given = headers['dpop-nonce'];
      if (typeof given !== 'string') return false;
      nonce = given;
      // Several concurrent requests may lack the nonce.
      const challenges = given === sent.nonce ? '' : (headers['www-authenticate'] ?? '');
      return statusCode === 401 && isDpop(challenges) && challenges.includes('use_dpop_nonce');
    },
  };
}
