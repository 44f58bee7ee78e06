/** Opens remote agents for this pod: sockets, cards and their cache. The calls of a single agent are in `link.ts`. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { CredentialRefused } from '../mcp/errors.ts';
import { createScrubFor } from '../mcp/scrub.ts';
import { type Exchange, raceAbort, startExchange } from '../mcp/transports/exchange.ts';
import { createHttpFetch, type HttpFetch } from '../mcp/transports/http-fetch.ts';
import { type CalledFor, personHeaders } from '../remote/called-agent.ts';
import { guardEvents } from '../remote/event-guard.ts';
import { faultOf } from '../remote/faults.ts';
import { digestOf } from '../remote/message-ids.ts';
import { type FetchedCard, type ReadCard, readCard } from './cards.ts';
import { createLink, type RemoteLink } from './link.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import { type ClientSdk, createClientSdkLoader } from './sdk.ts';
import { type RemoteSkill, skillsIn } from './skills.ts';

/** The remote agents of a pod. */
export interface RemoteAgents {
  /**
   * Opens the agent for a person, with the headers of the person's credential in addition to the agent's own. The card is
   * fetched or taken from the cache. Throws RemoteFault and the reason of the signal.
   */
  open(agent: RemoteAgentTarget, person: CalledFor, signal: AbortSignal): Promise<RemoteLink>;
  /** The skills on the agent's card, which is read as `open` does. Throws RemoteFault and the reason of the signal. */
  skills(agent: RemoteAgentTarget, person: CalledFor, signal: AbortSignal): Promise<readonly RemoteSkill[]>;
  close(): void;
}

const CARD_TTL_MS = 5 * 60_000;
const CARDS_MAX = 1_000;
const CARD_MS = 30_000;
/**
 * The limit of JSON values in a message. Agents may stream an artifact in pieces of a word, and each piece is a part with
 * several members.
 */
const VALUES_MAX = 50_000;

interface CachedCard {
  readonly card: Promise<ReadCard>;
  readonly expiresAt: number;
}

interface RemoteAgentsOptions {
  /** Called for each reply that rejects the credential. */
  readonly onUnauthorized?: (agent: string, status: 401 | 403) => void;
}

export function createRemoteAgents({
  onUnauthorized = () => undefined,
}: RemoteAgentsOptions = {}): RemoteAgents {
  const loadSdk = createClientSdkLoader();
  const exchanges = new AsyncLocalStorage<Exchange>();
  const statuses = new WeakMap<Exchange, number>();
  const sockets = new Map<string, HttpFetch>();
  const cards = new Map<string, CachedCard>();

  /** The sockets for an agent's origins. No other origin is called, and redirects are not followed. */
  function socketsOf({ id, origins, messageBytesMax }: RemoteAgentTarget, origin: string): HttpFetch {
    const key = `${id} ${origin}`;
    const known = sockets.get(key);
    if (known !== undefined) return known;
    if (!origins.includes(origin)) throw new Error('The address is not one of the agent.');
    const made = createHttpFetch({
      origin,
      bounds: { bytesMax: messageBytesMax, valuesMax: VALUES_MAX },
      exchanges,
    });
    sockets.set(key, made);
    return made;
  }

  function fetchOf(agent: RemoteAgentTarget, headers: Readonly<Record<string, string>>): typeof fetch {
    return async (input, init) => {
      const url = new URL(String(input));
      const all = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headers)) all.set(name, value);
      const response = await socketsOf(agent, url.origin)
        .fetch(url, { ...(init as object), headers: Object.fromEntries(all) })
        .catch((error: unknown) => {
          if (error instanceof CredentialRefused) onUnauthorized(agent.id, error.refusal.status);
          throw error;
        });
      const exchange = exchanges.getStore();
      if (exchange !== undefined) statuses.set(exchange, response.status);
      return guardEvents(response);
    };
  }

  async function fetchCard(sdk: ClientSdk, agent: RemoteAgentTarget, fetchImpl: typeof fetch) {
    const exchange = startExchange({ timeoutMs: CARD_MS });
    try {
      let served: FetchedCard['served'] = {};
      const resolver = new sdk.client.DefaultAgentCardResolver({
        async fetchImpl(input, init) {
          const response = await fetchImpl(input, init);
          if (!response.ok) return response;
          served = (await response.json()) as typeof served;
          return Response.json(served);
        },
        legacyCompat: { enabled: true },
      });
      const fetching = exchanges.run(exchange, () => resolver.resolve(agent.cardUrl, ''));
      const card = await raceAbort(exchange, fetching);
      return await readCard(sdk, agent, { card, served });
    } catch (error) {
      throw faultOf(error, { dispatched: exchange.dispatched, status: statuses.get(exchange) });
    } finally {
      exchange.end();
    }
  }

  /** Callers with the same headers share a card. The oldest card is evicted first. */
  function cardOf(sdk: ClientSdk, agent: RemoteAgentTarget, headers: object, fetchImpl: typeof fetch) {
    const key = digestOf([agent.id, agent.cardUrl, headers]);
    const known = cards.get(key);
    if (known !== undefined && known.expiresAt > performance.now()) return known.card;
    const card = fetchCard(sdk, agent, fetchImpl);
    cards.delete(key);
    cards.set(key, { card, expiresAt: performance.now() + CARD_TTL_MS });
    card.catch(() => cards.delete(key));
    const [oldest] = cards.size > CARDS_MAX ? cards.keys() : [];
    if (oldest !== undefined) cards.delete(oldest);
    return card;
  }

  async function readFor(agent: RemoteAgentTarget, { userId, credential }: CalledFor, signal: AbortSignal) {
    const sdk = await loadSdk();
    const secrets = { ...agent.headers, ...credential };
    const all = { ...secrets, ...personHeaders(agent, userId) };
    const fetchImpl = fetchOf(agent, all);
    const read = await raceAbort({ signal }, cardOf(sdk, agent, all, fetchImpl));
    return { sdk, fetchImpl, read, scrub: createScrubFor(Object.values(secrets)) };
  }

  return {
    async skills(agent, person, signal) {
      const { read, scrub } = await readFor(agent, person, signal);
      return skillsIn(read.card, agent.id, scrub);
    },
    async open(agent, person, signal) {
      const { sdk, fetchImpl, read, scrub } = await readFor(agent, person, signal);
      const options = { fetchImpl, legacyCompat: { enabled: true } };
      const { JsonRpcTransportFactory, RestTransportFactory, ClientFactory } = sdk.client;
      const factory = new ClientFactory({
        transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
        cardResolver: { resolve: async () => read.card },
      });
      const client = await factory.createFromAgentCard(read.card);
      return createLink({
        sdk,
        client,
        read,
        agent,
        exchanges,
        statusOf: (exchange) => statuses.get(exchange),
        scrub: <T>(given: T) => scrub.value(given) as T,
      });
    },
    close() {
      for (const { close } of sockets.values()) close();
      exchanges.disable();
    },
  };
}
