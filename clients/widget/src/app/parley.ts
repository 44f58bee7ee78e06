/**
 * Parley's routes for the pages of MCP servers: reading a page, and making its calls. What a page does with a result is in
 * `element.ts` and `host.ts`.
 */

/** The result of a tool, unchanged as its server sent it (`CallToolResult`). */
export interface AppToolResult {
  readonly content: readonly unknown[];
  readonly isError?: boolean;
  readonly [member: string]: unknown;
}

/** The page of a call, and the data of the call that it shows. */
export interface AppPage {
  readonly page: {
    readonly html: string;
    readonly csp: Readonly<Record<string, readonly string[]>>;
    readonly prefersBorder?: boolean;
  };
  readonly input: unknown;
  readonly result: AppToolResult;
}

/** What a call of a page is waiting for, as a message part of the AI SDK. */
export interface AppWait {
  readonly type: 'data-approval-request' | 'data-elicitation-request';
  readonly id: string;
  readonly data: unknown;
}

/** The Parley server from which the pages of a chat are read. */
export interface AppServer {
  /** The URL of Parley, including its path if it has one. '' is the page's own origin. @default '' */
  readonly baseUrl?: string;
  /** Returns the user's token. Called for each request. */
  getToken(): string | Promise<string>;
  /** @default the page's `fetch` */
  readonly fetch?: typeof fetch;
}

/** Identifies a page, with the values of the part `data-tool-page` in a chat. */
interface AppRef {
  readonly conversationId: string;
  readonly pageId: string;
}

/** A refusal of Parley, with a message for the page. */
class AppRefusal extends Error {
  /** True if another attempt may succeed, because a pod or its proxy cannot reply now. */
  readonly isTemporary: boolean;

  constructor(message: string, status: number) {
    super(message);
    this.isTemporary = status === 429 || status >= 500;
  }
}

interface AppRequest {
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 1_000;

/** Parley's routes for one page. */
export function createAppCalls(server: AppServer, { conversationId, pageId }: AppRef) {
  const base = `${server.baseUrl ?? ''}/run/api/chat/${encodeURIComponent(conversationId)}/pages/${encodeURIComponent(pageId)}`;

  async function send(
    path: string,
    { body, signal }: AppRequest,
  ): Promise<{ status: number; json: unknown }> {
    const reply = await (server.fetch ?? fetch)(`${base}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${await server.getToken()}`,
        'x-supports-elicitation': 'true',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    });
    const json: unknown = await reply.json().catch(() => ({}));
    if (!reply.ok)
      throw new AppRefusal(
        (json as { detail?: string }).detail ?? `The call failed (${reply.status}).`,
        reply.status,
      );
    return { status: reply.status, json };
  }

  return {
    read: async (signal: AbortSignal) => (await send('', { signal })).json as AppPage,
    /** Makes a call once and waits for its end. `onWaits` gets everything that the call has asked so far. */
    async call(
      name: string,
      args: unknown,
      signal: AbortSignal,
      onWaits: (waits: readonly AppWait[]) => void,
    ): Promise<AppToolResult> {
      let reply = await send('/calls', { body: { name, arguments: args ?? {} }, signal });
      while (reply.status === 202) {
        const { callId, waits } = reply.json as {
          callId: string;
          waits: readonly Parameters<typeof partOf>[0][];
        };
        onWaits(waits.map(partOf));
        const path = `/calls/${encodeURIComponent(callId)}?seen=${waits.length}`;
        reply = await again(path, signal);
      }
      return (reply.json as { readonly result: AppToolResult }).result;
    },
  };

  /**
   * Repeats a read that gets no reply. The call itself continues without the read, and a page that saw the read fail might make
   * the call a second time.
   */
  async function again(path: string, signal: AbortSignal): ReturnType<typeof send> {
    for (;;) {
      try {
        return await send(path, { signal });
      } catch (error) {
        if (signal.aborted || (error instanceof AppRefusal && !error.isTemporary)) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }
}

function partOf({
  type,
  data,
}: {
  type: 'approval' | 'question';
  data: Readonly<Record<string, unknown>>;
}): AppWait {
  return type === 'approval'
    ? { type: 'data-approval-request', id: String(data.approvalId), data }
    : { type: 'data-elicitation-request', id: String(data.elicitationId), data };
}
