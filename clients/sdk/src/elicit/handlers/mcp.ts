import type { ElicitationHandler, HandlerCall, Prompt, PromptReply } from '../handler.ts';
import { messageWithFaults } from './messages.ts';

/** The parameters of MCP's `elicitation/create`. */
export type McpElicitParams =
  | { readonly mode: 'form'; readonly message: string; readonly requestedSchema: Record<string, unknown> }
  | { readonly mode: 'url'; readonly message: string; readonly url: string; readonly elicitationId: string };

/** The result of MCP's `elicitation/create`. */
export interface McpElicitResult {
  readonly action: string;
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

export interface McpHandlerOptions {
  /**
   * Sends `elicitation/create` to the client whose call is being served: `ctx.mcpReq.elicitInput` or
   * `server.elicitInput` of the official SDK.
   */
  readonly elicit: (
    params: McpElicitParams,
    options: { readonly signal: AbortSignal; readonly timeout: number },
  ) => Promise<McpElicitResult>;
  /** What the client declared as `capabilities.elicitation`; `{}` means form. */
  readonly capability: { readonly form?: unknown; readonly url?: unknown } | undefined;
  readonly priority?: number;
}

/** Asks through the elicitation of an MCP client. It cannot ask for secrets: MCP forbids them in forms. */
export function createMcpHandler({
  elicit,
  capability,
  priority = 50,
}: McpHandlerOptions): ElicitationHandler {
  const canForm = capability !== undefined && (capability.form !== undefined || capability.url === undefined);
  const canUrl = capability?.url !== undefined;
  return {
    name: 'mcp',
    priority,
    oneAtATime: true,
    canHandle: ({ mode }) => (mode === 'form' && canForm) || (mode === 'url' && canUrl),
    async handle(prompt, { signal, remainingMs, key }: HandlerCall): Promise<PromptReply> {
      const result = await elicit(paramsOf(prompt, key), { signal, timeout: Math.ceil(remainingMs) });
      return protocolReplyOf(result);
    },
  };
}

function paramsOf(prompt: Prompt, key: string | undefined): McpElicitParams {
  const message = messageWithFaults(prompt);
  if (prompt.mode === 'form') return { mode: 'form', message, requestedSchema: { ...prompt.schema } };
  if (prompt.mode === 'url') {
    return { mode: 'url', message, url: prompt.url, elicitationId: key ?? crypto.randomUUID() };
  }
  throw new Error('A secret must not travel in a form.');
}

/** The reply to a prompt from an action of MCP or ACP. Throws for an unknown action, so that the next handler is tried. */
export function protocolReplyOf({ action, content }: McpElicitResult): PromptReply {
  if (action === 'accept') return { action, content: content ?? {} };
  if (action === 'decline' || action === 'cancel') return { action };
  throw new Error('The client replied with an unknown action.');
}
