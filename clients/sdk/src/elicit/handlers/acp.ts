import { labelledSchema } from '@parley/core/domain/forms/labelled';
import type { ElicitationHandler, Prompt } from '../handler.ts';
import { type McpElicitResult, protocolReplyOf } from './mcp.ts';
import { messageWithFaults } from './messages.ts';

/** The parameters of ACP's `elicitation/create`. */
export type AcpElicitParams = { readonly sessionId: string; readonly message: string } & (
  | { readonly mode: 'form'; readonly requestedSchema: Record<string, unknown> }
  | { readonly mode: 'url'; readonly url: string; readonly elicitationId: string }
);

export interface AcpHandlerOptions {
  readonly sessionId: string;
  /** Sends `elicitation/create` to the editor, over the agent's connection of the official SDK. */
  readonly elicit: (
    params: AcpElicitParams,
    options: { readonly signal: AbortSignal },
  ) => Promise<McpElicitResult>;
  /** What the editor declared as `clientCapabilities.elicitation`. Absent modes are not used. */
  readonly capability: { readonly form?: unknown; readonly url?: unknown } | undefined;
  readonly priority?: number;
}

/** Asks through the elicitation of an ACP editor. It cannot ask for secrets, which no form may carry. */
export function createAcpHandler({
  sessionId,
  elicit,
  capability,
  priority = 40,
}: AcpHandlerOptions): ElicitationHandler {
  return {
    name: 'acp',
    priority,
    oneAtATime: true,
    canHandle: ({ mode }) => mode !== 'secret' && (capability?.[mode] ?? undefined) !== undefined,
    async handle(prompt, { signal, key }) {
      return protocolReplyOf(await elicit(paramsOf(prompt, sessionId, key), { signal }));
    },
  };
}

function paramsOf(prompt: Prompt, sessionId: string, key: string | undefined): AcpElicitParams {
  const base = { sessionId, message: messageWithFaults(prompt) };
  if (prompt.mode === 'form')
    return { ...base, mode: 'form', requestedSchema: { ...labelledSchema(prompt.schema) } };
  if (prompt.mode === 'url') {
    return { ...base, mode: 'url', url: prompt.url, elicitationId: key ?? crypto.randomUUID() };
  }
  throw new Error('A secret must not travel in a form.');
}
