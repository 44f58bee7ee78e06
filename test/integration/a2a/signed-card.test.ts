import { generateKeyPairSync } from 'node:crypto';
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { a2aSigningKeyOf } from '@parley/shared/config/a2a-env';
import type { Env } from '@parley/shared/config/env';
import canonicalize from 'canonicalize';
import { flattenedVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestHead } from '../../../services/api/src/http/route.ts';
import { createCards } from '../../../services/api/src/surfaces/a2a/cards.ts';
import type { A2aDeps, OfferedAgent } from '../../../services/api/src/surfaces/a2a/deps.ts';
import { createSdkLoader } from '../../../services/api/src/surfaces/a2a/sdk.ts';
import { fetchAny, openA2aSite } from '../../harness/a2a/setup.ts';

describe('a card that is signed', () => {
  interface SignedCard {
    readonly signatures: readonly { readonly protected: string; readonly signature: string }[];
    readonly [member: string]: unknown;
  }

  let signed: Signed;
  beforeAll(async () => {
    vi.spyOn(console, 'debug').mockReturnValue();
    signed = await openSigned();
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await signed.stop();
  });

  async function openSigned() {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const configured = a2aSigningKeyOf({ PARLEY_A2A_SIGNING_KEY: pem.replaceAll('\n', '\\n') } as Env);
    if (configured === undefined) throw new Error('The key was not read.');
    const site = await openA2aSite({ settings: { signer: { privateKey: configured } } });
    const [{ url }] = site.pods;
    const cardOf = async (agent: string, version: string) => {
      const headers = { 'a2a-version': version };
      const reply = await fetch(`${url}/run/a2a/${agent}/.well-known/agent-card.json`, { headers });
      return (await reply.json()) as SignedCard;
    };
    /** The key that a signature names. */
    const keyOf = async (kid = '', jku = '') => {
      if (new URL(jku).origin !== 'https://parley.example') throw new Error('not the keys of Parley');
      const { keys } = (await (await fetchAny(site)(jku)).json()) as { keys: { kid: string }[] };
      return keys.find((key) => key.kid === kid) as never;
    };
    return { cardOf, keyOf, stop: site.stop };
  }
  type Signed = Awaited<ReturnType<typeof openSigned>>;

  /** As the specification has it: the canonical JSON (RFC 8785) of the card as it was served. */
  async function verifyAsServed({ keyOf }: Signed, { signatures, ...card }: SignedCard) {
    const payload = Buffer.from(canonicalize(card) ?? '').toString('base64url');
    await Promise.any(
      signatures.map((one) =>
        flattenedVerify({ ...one, payload }, async ({ kid, jku } = {}) => keyOf(kid, jku)),
      ),
    );
  }
  const verifyByStock = ({ keyOf }: Signed, card: SignedCard) =>
    verifyAgentCardSignature(keyOf)(card as never);

  it.each([
    ['by the specification', '1.0', verifyAsServed],
    ['by the specification', '0.3', verifyAsServed],
    ['by the specification', '', verifyAsServed],
    ['by the stock client', '1.0', verifyByStock],
    ['by the stock client', '', verifyByStock],
  ])('is verified %s (%s), and refused once anything in it was changed', async (_by, version, verify) => {
    await verify(signed, await signed.cardOf('speaker', version));
    const card = await signed.cardOf('helper', version);
    await verify(signed, card);
    const other = { bearer: { httpAuthSecurityScheme: { scheme: 'Basic' } } };
    const interfaces = [{ url: 'https://evil.example/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    for (const change of [
      { name: 'Other' },
      { url: 'https://evil.example/' },
      { supportedInterfaces: interfaces },
      { securitySchemes: other },
      { securitySchemes: undefined },
      { signatures: [] },
    ]) {
      if (!Object.keys(change).some((name) => name in card)) continue;
      // Of 0.3, which the stock client does not read here.
      if (verify === verifyByStock && 'url' in change) continue;
      await expect(verify(signed, { ...card, ...change })).rejects.toThrow();
    }
  });

  it('is signed once', async () => {
    const { cardOf } = signed;
    expect(await cardOf('helper', '1.0')).toEqual(await cardOf('helper', '1.0'));
  });

  it('is made again where it could not be made before', async () => {
    const load = createSdkLoader();
    const loads = [() => Promise.reject(new Error('not loaded')), load, load];
    const deps = { origin: 'https://parley.example', version: '1' } as A2aDeps;
    const cards = createCards(deps, async () => (await loads.shift()?.()) as never);
    const agent = { id: 'helper', title: 'Helper', description: 'Helps.' } as OfferedAgent;
    const read = () => cards.read(agent, { url: '/', headers: {} } as RequestHead);
    await expect(read()).rejects.toThrow('not loaded');
    expect((await read()).body).toMatchObject({ name: 'Helper' });
    expect(await read()).toBe(await read());
  });
});
