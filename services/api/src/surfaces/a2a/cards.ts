import type { AgentCard } from '@a2a-js/sdk';
import { canonicalJson } from '@parley/core/domain/json/canonical-json';
import { once } from '@parley/shared/async/once';
import { sha256 } from '@parley/shared/records/digest';
import type { RequestHead } from '../../http/route.ts';
import { cardOf, originOf } from './card.ts';
import { signatureOf } from './card-signature.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { Sdk } from './sdk.ts';
import { LEGACY, namedVersion } from './version.ts';

/** A card as it is served. */
interface ServedCard {
  readonly body: Readonly<Record<string, unknown>>;
  /** A digest of the card without its signatures, which differ between pods. */
  readonly etag: string;
}

/** The cards of the agents. */
export interface Cards {
  /** The card of an agent, in the version that the request names. */
  read(agent: OfferedAgent, head: RequestHead): Promise<ServedCard>;
}

/**
 * Cards are signed if a key and the origin are configured. Each card is then made only once. Without a configured origin, the
 * request's origin is used, and such a card is made for each request and not signed.
 */
export function createCards(deps: A2aDeps, loadSdk: () => Promise<Sdk>): Cards {
  const made = new Map<string, () => Promise<ServedCard>>();

  async function make(agent: OfferedAgent, form: CardForm, origin: string): Promise<ServedCard> {
    const sdk = await loadSdk();
    const card = cardOf(sdk, deps, agent, origin);
    const modern = jsonOf(sdk, card);
    const body = form === 'modern' ? modern : cardFor(form, await legacyCard(sdk, card), modern);
    const payloads = new Set([
      canonicalJson(body),
      ...(form === 'legacy' ? [] : [payloadOfSdks(sdk, modern)]),
    ]);
    const etag = `"${sha256(canonicalJson(body))}"`;
    const { signer } = deps;
    if (signer === undefined || deps.origin === undefined) return { body, etag };
    return {
      body: { ...body, signatures: [...payloads].map((one) => signatureOf(signer, origin, one)) },
      etag,
    };
  }

  return {
    read(agent, head) {
      const version = namedVersion(head);
      const form = version === undefined ? 'both' : version === LEGACY ? 'legacy' : 'modern';
      const origin = originOf(deps, head);
      if (deps.origin === undefined) return make(agent, form, origin);
      const key = `${agent.id} ${form}`;
      const card = made.get(key) ?? once(() => make(agent, form, origin));
      made.set(key, card);
      return card();
    },
  };
}

/**
 * `both`: the members of 0.3 and of 1.0. A security scheme has the members of both versions, because each version ignores those
 * of the other.
 */
type CardForm = 'legacy' | 'modern' | 'both';
type CardJson = ServedCard['body'];

function cardFor(form: 'legacy' | 'both', legacy: CardJson, modern: CardJson): CardJson {
  if (form === 'legacy') return legacy;
  const schemes = Object.entries(schemesOf(modern)).map(([name, scheme]) => [
    name,
    { ...schemesOf(legacy)[name], ...scheme },
  ]);
  return { ...legacy, ...modern, securitySchemes: Object.fromEntries(schemes) as unknown };
}

function schemesOf({ securitySchemes }: CardJson) {
  return securitySchemes as Readonly<Record<string, object>>;
}

const jsonOf = ({ core }: Sdk, card: AgentCard) => core.AgentCard.toJSON(card) as ServedCard['body'];

/** The text that the official SDKs verify instead of a card's canonical JSON: they omit all empty members. */
function payloadOfSdks({ core }: Sdk, body: ServedCard['body']): string {
  return core.canonicalizeAgentCard(body as never);
}

/** The card for clients of 0.3. The SDK translates cards only in its legacy method. */
async function legacyCard({ compat, server }: Sdk, card: AgentCard): Promise<ServedCard['body']> {
  const getCard = async () => card;
  const handler = { getAgentCard: getCard, getAuthenticatedExtendedAgentCard: getCard };
  const transport = new compat.LegacyJsonRpcTransportHandler(handler as never);
  const request = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const reply = await transport.handle(request, new server.ServerCallContext({}));
  const result: unknown = 'result' in reply ? reply.result : undefined;
  return JSON.parse(JSON.stringify(result)) as ServedCard['body'];
}
