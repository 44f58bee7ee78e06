import { z } from 'zod';
import { PROTOCOL_VERSION } from './shapes.ts';

const Flags = z.looseObject({});

/** `AgentCapabilities` of AG-UI. */
export const Capabilities = z
  .object({
    identity: z.object({ name: z.string(), type: z.literal('parley'), version: z.string() }),
    transport: Flags,
    tools: Flags,
    state: Flags,
    multimodal: Flags,
    humanInTheLoop: Flags,
    custom: z.object({ parley: z.object({ protocolVersion: z.string() }) }),
  })
  .meta({ id: 'AgUiCapabilities' });

/** The capabilities of Parley's agents for AG-UI clients. */
export function capabilitiesOf(agent: { readonly title: string }, version: string) {
  return {
    identity: { name: agent.title, type: 'parley', version },
    transport: { streaming: true, websocket: false, httpBinary: false, resumable: false },
    tools: { supported: true, parallelCalls: true, clientProvided: false },
    state: { snapshots: false, deltas: false, persistentState: false },
    multimodal: { input: { image: false, audio: false, video: false, pdf: false, file: false } },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
    custom: { parley: { protocolVersion: PROTOCOL_VERSION } },
  } satisfies z.infer<typeof Capabilities>;
}
