import type { AgentCard } from '@a2a-js/sdk';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { calledOrigin } from '../../http/headers/called-origin.ts';
import type { RequestHead } from '../../http/route.ts';
import { IMAGE_TYPES } from '../../turns/content/read-image.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { Sdk } from './sdk.ts';

export const A2A_PATH = '/run/a2a';
export const CARD_PATH = '/.well-known/agent-card.json';

/** The origin under which a client reaches the pods. */
export function originOf({ origin }: Pick<A2aDeps, 'origin'>, head: RequestHead): string {
  if (origin !== undefined) return origin;
  return calledOrigin(head);
}

/**
 * The card of an agent, in the JSON of A2A 1.0. Members with default values are omitted, as the specification requires for
 * signed cards.
 */
function cardJson(deps: A2aDeps, agent: OfferedAgent, origin: string) {
  const { id, title, description, takesImages = false } = agent;
  const url = `${origin}${A2A_PATH}/${id}`;
  return {
    name: title,
    description,
    version: deps.version,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: deps.push !== undefined,
      extendedAgentCard: false,
      extensions: [
        {
          uri: ELICITATION_EXTENSION,
          description: 'Questions to the person, with their schemas, and answers to them.',
          params: { repeatableMessages: true },
        },
      ],
    },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: { scheme: 'Bearer', description: "A user's token, or a service key." },
      },
    },
    securityRequirements: [{ schemes: { bearer: {} } }],
    defaultInputModes: ['text/plain', 'application/json', ...(takesImages ? IMAGE_TYPES : [])],
    defaultOutputModes: ['text/plain'],
    skills: [{ id, name: title, description, tags: ['agent'] }],
  };
}

/** The card of an agent, without a signature. */
export function cardOf({ core }: Sdk, deps: A2aDeps, agent: OfferedAgent, origin: string): AgentCard {
  return core.AgentCard.fromJSON(cardJson(deps, agent, origin));
}
