import { createHash } from 'node:crypto';
import type { AgentCard } from '@a2a-js/sdk';
import { canonicalJson } from '@parley/shared/domain/json/canonical-json';
import { once } from '@parley/shared/elicitations/once';
import type { RequestHead } from '../../http/route.ts';
import { cardOf, originOf } from './card.ts';
import { signatureOf } from './card-signature.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { Sdk } from './sdk.ts';

/** A card as it is served. */
interface ServedCard {
  readonly body: Readonly<Record<string, unknown>>;
  /** Of the card without its signatures, which differ from pod to pod. */
  readonly etag: string;
}

/** The cards of the agents. */
export interface Cards {
  /** The card of an agent in the version that the request names. */
  read(agent: OfferedAgent, head: RequestHead): Promise<ServedCard>;
}

/**
 * Cards are signed where a key and the origin are configured, each once: addresses that a request names are not signed, and
 * such a card is made anew for each request.
 */
export function createCards(deps: A2aDeps, loadSdk: () => Promise<Sdk>): Cards {
  const made = new Map<string, () => Promise<ServedCard>>();

  async function make(agent: OfferedAgent, isLegacy: boolean, origin: string): Promise<ServedCard> {
    const sdk = await loadSdk();
    const card = cardOf(sdk, deps, agent, origin);
    const body = isLegacy ? await legacyCard(sdk, card) : jsonOf(sdk, card);
    const payloads = new Set([canonicalJson(body), ...(isLegacy ? [] : [payloadOfSdks(sdk, body)])]);
    const etag = `"${createHash('sha256').update(canonicalJson(body)).digest('base64url')}"`;
    const { signer } = deps;
    if (signer === undefined || deps.origin === undefined) return { body, etag };
    return {
      body: { ...body, signatures: [...payloads].map((one) => signatureOf(signer, origin, one)) },
      etag,
    };
  }

  return {
    read(agent, head) {
      const isLegacy = (head.headers['a2a-version'] || '0.3') === '0.3';
      const origin = originOf(deps, head);
      if (deps.origin === undefined) return make(agent, isLegacy, origin);
      const key = `${agent.id} ${isLegacy}`;
      const card = made.get(key) ?? once(() => make(agent, isLegacy, origin));
      made.set(key, card);
      return card();
    },
  };
}

const jsonOf = ({ core }: Sdk, card: AgentCard) => core.AgentCard.toJSON(card) as ServedCard['body'];

/** What the official SDKs verify in place of the canonical JSON of a card: they take out all members without content. */
function payloadOfSdks({ core }: Sdk, body: ServedCard['body']): string {
  return core.canonicalizeAgentCard(body as never);
}

/** The card as clients of 0.3 read it. The SDK translates it for its legacy method only. */
async function legacyCard({ compat, server }: Sdk, card: AgentCard): Promise<ServedCard['body']> {
  const getCard = async () => card;
  const handler = { getAgentCard: getCard, getAuthenticatedExtendedAgentCard: getCard };
  const transport = new compat.LegacyJsonRpcTransportHandler(handler as never);
  const request = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const reply = await transport.handle(request, new server.ServerCallContext({}));
  const result: unknown = 'result' in reply ? reply.result : undefined;
  return JSON.parse(JSON.stringify(result)) as ServedCard['body'];
}
