import type { AgentCard } from '@a2a-js/sdk';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { z } from 'zod';
import { RemoteFault } from './faults.ts';
import type { CardKey, RemoteAgentTarget } from './remote-agent.ts';
import type { ClientSdk } from './sdk.ts';

/** What Parley uses of a card: only interfaces at origins that may be called. */
export interface ReadCard {
  readonly card: AgentCard;
  readonly isStreaming: boolean;
  /** True when the agent pushes updates of its tasks. */
  readonly offersPush: boolean;
  /** True when the agent asks and is answered by Parley's extension. */
  readonly speaksElicitation: boolean;
  /** True when a message that is sent again leads to the same task. */
  readonly isRepeatable: boolean;
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

/** Reads a card that was fetched. Throws RemoteFault for one that cannot be used. */
export async function readCard(
  { core }: Pick<ClientSdk, 'core'>,
  { origins, cardKeys }: Pick<RemoteAgentTarget, 'origins' | 'cardKeys'>,
  card: AgentCard,
): Promise<ReadCard> {
  if (cardKeys.length > 0) await verify(core, cardKeys, card);
  const read = Card.safeParse(card);
  if (!read.success) throw new RemoteFault('refused', 'its card is not well formed', 'CardError');
  const { capabilities } = read.data;
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

type KeyReader = Parameters<ClientSdk['core']['verifyAgentCardSignature']>[0];
type VerifyingKey = Awaited<ReturnType<KeyReader>>;

/** The SDK writes each signature that fails to the console. */
const SIGNATURES_MAX = 5;

/** Throws RemoteFault unless one of the keys has signed the card. Only signatures that name one of the keys are tried. */
async function verify(core: ClientSdk['core'], keys: readonly CardKey[], card: AgentCard): Promise<void> {
  const [only] = keys.length === 1 ? keys : [];
  const keyOf = (kid: unknown) =>
    keys.find((one) => one.kid !== undefined && one.kid === kid) ??
    (only?.kid === undefined ? only : undefined);
  const signatures = (card.signatures ?? [])
    .filter((one) => keyOf(kidOf(one.protected)) !== undefined)
    .slice(0, SIGNATURES_MAX);
  const check = core.verifyAgentCardSignature(async (kid) => ({ ...keyOf(kid) }) as VerifyingKey);
  await check({ ...card, signatures }).catch(() => {
    throw new RemoteFault('refused', 'its card is not signed with a configured key', 'CardError');
  });
}

/** The id of the key in the protected header of a signature; undefined without one. */
function kidOf(head: string): unknown {
  try {
    return (JSON.parse(Buffer.from(head, 'base64url').toString()) as { readonly kid?: unknown } | null)?.kid;
  } catch {
    return undefined;
  }
}
