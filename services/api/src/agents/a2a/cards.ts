/** Reads a remote agent's card and verifies its signature. Fetching and caching cards is in `remote-agents.ts`. */

import type { AgentCard } from '@a2a-js/sdk';
import { canonicalJson } from '@parley/core/domain/json/canonical-json';
import { jsonIn } from '@parley/core/domain/parsed';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { flattenedVerify, type JWK } from 'jose';
import { z } from 'zod';
import { RemoteFault } from '../remote/faults.ts';
import type { CardKey, RemoteAgentTarget } from './remote-agent.ts';
import type { ClientSdk } from './sdk.ts';

/** The parts of a card that Parley uses. It contains only interfaces at origins that may be called. */
export interface ReadCard {
  readonly card: AgentCard;
  readonly isStreaming: boolean;
  /** True when the agent pushes updates of its tasks. */
  readonly offersPush: boolean;
  /** True if the agent supports Parley's extension for questions and answers. */
  readonly speaksElicitation: boolean;
  /** True if sending a message again leads to the same task. */
  readonly isRepeatable: boolean;
}

/** A card as the SDK parsed it, and the JSON that was served. */
export interface FetchedCard {
  readonly card: AgentCard;
  readonly served: Readonly<Record<string, unknown>>;
}

const Card = z.looseObject({
  supportedInterfaces: z
    .array(
      z.looseObject({
        url: z.string(),
        protocolBinding: z.string(),
        protocolVersion: z.string().default(''),
      }),
    )
    .max(100),
  capabilities: z
    .looseObject({
      streaming: z.boolean().optional(),
      pushNotifications: z.boolean().optional(),
      extensions: z
        .array(z.looseObject({ uri: z.string(), params: z.looseObject({}).optional() }))
        .max(100)
        .optional(),
    })
    .optional(),
});

// Protocol versions that are supported. A card without a version is of 0.3 or older; Parley tries to use it.
const SPOKEN = /^(?:(?:0\.3|1\.0)(?:\.\d+)?)?$/;

function unspoken(interfaces: readonly { readonly protocolVersion: string }[]): string {
  const versions = [...new Set(interfaces.map(({ protocolVersion }) => protocolVersion))].slice(0, 5);
  return versions.length === 0
    ? 'its card names no address that may be called'
    : `its card is of A2A ${versions.join(', ')}, and Parley speaks 0.3 and 1.0`;
}

/** Reads a fetched card. Throws RemoteFault if it cannot be used. */
export async function readCard(
  { core }: Pick<ClientSdk, 'core'>,
  { origins, cardKeys }: Pick<RemoteAgentTarget, 'origins' | 'cardKeys'>,
  fetched: FetchedCard,
): Promise<ReadCard> {
  const { card } = fetched;
  if (cardKeys.length > 0) await verify(core, cardKeys, fetched);
  const read = Card.safeParse(card);
  if (!read.success) throw new RemoteFault('refused', 'its card is not well formed', 'CardError');
  const { capabilities } = read.data;
  const isSpoken = read.data.supportedInterfaces.some(({ protocolVersion }) => SPOKEN.test(protocolVersion));
  if (!isSpoken) throw new RemoteFault('refused', unspoken(read.data.supportedInterfaces), 'CardError');
  const supportedInterfaces = card.supportedInterfaces.filter(
    ({ url }) => URL.canParse(url) && origins.includes(new URL(url).origin),
  );
  if (supportedInterfaces.length === 0)
    throw new RemoteFault('refused', 'its card names no address that may be called', 'CardError');
  const extension = (capabilities?.extensions ?? []).find(({ uri }) => uri === ELICITATION_EXTENSION);
  return {
    card: { ...card, supportedInterfaces },
    isStreaming: capabilities?.streaming === true,
    offersPush: capabilities?.pushNotifications === true,
    speaksElicitation: extension !== undefined,
    isRepeatable: extension?.params?.repeatableMessages === true,
  };
}

const SIGNATURES_MAX = 5;

/** Throws RemoteFault unless one of the keys has signed the card. Only signatures that name one of the keys are tried. */
async function verify(
  core: ClientSdk['core'],
  keys: readonly CardKey[],
  fetched: FetchedCard,
): Promise<void> {
  const [only] = keys.length === 1 ? keys : [];
  const keyOf = (kid: unknown) =>
    keys.find((one) => one.kid !== undefined && one.kid === kid) ??
    (only?.kid === undefined ? only : undefined);
  const signatures = (fetched.card.signatures ?? [])
    .filter((one) => keyOf(kidOf(one.protected)) !== undefined)
    .slice(0, SIGNATURES_MAX);
  const payloads = signatures.length === 0 ? [] : signedPayloads(core, fetched);
  const checks = signatures.flatMap(({ protected: head, signature }) =>
    payloads.map((payload) =>
      flattenedVerify({ protected: head, signature, payload: Buffer.from(payload).toString('base64url') }, {
        ...keyOf(kidOf(head)),
      } as JWK),
    ),
  );
  await Promise.any(checks).catch(() => {
    throw new RemoteFault('refused', 'its card is not signed with a configured key', 'CardError');
  });
}

/**
 * The texts that a card's signature may cover: its canonical JSON, or the forms that the official SDKs sign. The SDKs omit
 * empty members. When they sign a card that they have parsed, they also omit security schemes. Parley uses none of these.
 */
function signedPayloads(core: ClientSdk['core'], { card, served }: FetchedCard): readonly string[] {
  const { signatures: _signatures, ...json } = served;
  const read = core.canonicalizeAgentCard(card);
  // The SDK may have read members of another protocol version, which its signatures do not cover. This form counts only if that
  // changes nothing.
  const isSame = core.canonicalizeAgentCard(core.AgentCard.fromJSON(served)) === read;
  return [canonicalJson(json), read, ...(isSame ? [core.canonicalizeAgentCard(served as never)] : [])];
}

/** The key id in the protected header of a signature; undefined without one. */
function kidOf(head: string): unknown {
  const read = jsonIn(Buffer.from(head, 'base64url').toString());
  return (read as { readonly kid?: unknown } | null | undefined)?.kid;
}
