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
   * Sends `elicitation/create` to the client whose call is being served: `ctx.mcpReq.elicitInput`, `server.elicitInput` or a
   * plain request of the official SDK. The first two check the answer themselves; after an invalid answer, the question is
   * asked again with their message, at most ten times in all.
   */
  readonly elicit: (
    params: McpElicitParams,
    options: { readonly signal: AbortSignal; readonly timeout: number },
  ) => Promise<McpElicitResult>;
  /** What the client declared as `capabilities.elicitation`; `{}` means form. */
  readonly capability: { readonly form?: unknown; readonly url?: unknown } | undefined;
  readonly priority?: number;
}

/**
 * Asks through the elicitation of an MCP client. It cannot ask for secrets, because MCP forbids them in forms.
 *
 * @example
 * createMcpHandler({ elicit: (params, options) => server.elicitInput(params, options), capability });
 */
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
      const endsAt = performance.now() + remainingMs;
      let shown = prompt;
      for (let round = 1; ; round += 1) {
        try {
          const timeout = Math.max(Math.ceil(endsAt - performance.now()), 1);
          return protocolReplyOf(await elicit(paramsOf(shown, key), { signal, timeout }));
        } catch (error) {
          const mismatch = mismatchOf(error);
          if (mismatch === undefined || signal.aborted || round >= ROUNDS_MAX) throw error;
          shown = { ...prompt, faults: [{ path: 'The last answer', message: mismatch }] };
        }
      }
    },
  };
}

/** The number of rounds is limited, because a client that replies automatically may never give a valid answer. */
const ROUNDS_MAX = 10;

const INVALID_PARAMS = -32602;
const MISMATCH = /does not match requested schema: (.*)$/s;

/** What the official SDK found wrong with an answer; undefined for any other failure. Its error does not contain the answer. */
function mismatchOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== INVALID_PARAMS) return undefined;
  return MISMATCH.exec(error.message)?.[1];
}

function paramsOf(prompt: Prompt, key: string | undefined): McpElicitParams {
  const message = messageWithFaults(prompt);
  if (prompt.mode === 'form') return { mode: 'form', message, requestedSchema: { ...prompt.schema } };
  if (prompt.mode === 'url') {
    return { mode: 'url', message, url: prompt.url, elicitationId: key ?? crypto.randomUUID() };
  }
  throw new Error('A secret must not travel in a form.');
}

/** Converts an action of MCP or ACP to a reply. Throws for an unknown action, so that the next handler is tried. */
export function protocolReplyOf({ action, content }: McpElicitResult): PromptReply {
  if (action === 'accept') return { action, content: content ?? {} };
  if (action === 'decline' || action === 'cancel') return { action };
  throw new Error('The client replied with an unknown action.');
}
