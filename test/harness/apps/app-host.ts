/** A host of MCP Apps: a stock client, and in Chromium a page and the sandbox of another origin in which it shows the card. */
import { createServer, type RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { build } from 'esbuild';
import type { Browser, Frame, FrameLocator, Page } from 'playwright-core';
import { listenOnFreePort } from '../free-port.ts';
import { openPage } from '../in-chromium.ts';
import type { StartedCard } from './host-page.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const APPS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
/** The policy that the specification demands for pages that name no domains. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; object-src 'none'; base-uri 'self'";
/** Passes messages on, as the specification says; the card gets no origin. */
const SANDBOX = `<!doctype html><style>html,body{margin:0;height:100%}iframe{width:100%;height:100%;border:0;display:block}</style><script>
let view;
addEventListener('message', ({ source, data }) => {
  if (source === parent && data.method === 'ui/notifications/sandbox-resource-ready') {
    view = document.createElement('iframe');
    view.title = 'view';
    view.setAttribute('sandbox', 'allow-scripts');
    view.srcdoc = data.params.html;
    document.body.append(view);
  } else if (source === parent) view.contentWindow.postMessage(data, '*');
  else if (source === view?.contentWindow) parent.postMessage(data, '*');
});
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
</script>`;

export interface AppHostPages {
  open(browser: Browser, options: OpenedHost): Promise<AppHost>;
  stop(): Promise<void>;
}

export interface OpenedHost {
  /** Parley. */
  readonly url: string;
  readonly token: string;
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly context?: object;
  /** False: the host says nothing of the tool to which a card belongs. */
  readonly tellsTool?: boolean;
  readonly takesMessages?: boolean;
  /** Sent with each request, as a token of an OAuth client would. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly viewport?: { readonly width: number; readonly height: number };
}

export interface AppHost {
  readonly page: Page;
  readonly card: FrameLocator;
  /** The window of the card. */
  frame(): Frame;
  /** What the card asked of the host. */
  readonly noted: readonly (readonly [what: string, value: unknown])[];
  /** What is wrong in the consoles of all frames: also what a policy refuses. */
  readonly faults: string[];
  /** The model calls the tool; its result goes to the card, too. */
  call(): Promise<CallToolResult>;
  /** The host lets its model call any tool, also those that are for the card alone. */
  callAny(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
  /** The host refuses the calls of the card from now on, or no more. */
  refuse(isRefusing: boolean): void;
  change(context: object): Promise<void>;
  close(): Promise<void>;
}

export async function openAppHostPages(): Promise<AppHostPages> {
  const bundled = await build({
    absWorkingDir: ROOT,
    entryPoints: ['test/harness/apps/host-page.ts'],
    bundle: true,
    format: 'iife',
    write: false,
  });
  const script = bundled.outputFiles[0]?.text ?? '';
  const serve = async (listener: RequestListener) => {
    const server = createServer(listener);
    return { server, port: await listenOnFreePort(server) };
  };
  const host = await serve(({ url }, reply) => {
    reply.setHeader('content-type', `text/${url === '/host.js' ? 'javascript' : 'html'}; charset=utf-8`);
    reply.end(
      url === '/host.js'
        ? script
        : '<!doctype html><html lang="en"><title>A host</title><meta name="viewport" content="width=device-width"><body style="margin:8px;color-scheme:light dark"><script src="host.js"></script>',
    );
  });
  const sandbox = await serve((_request, reply) => {
    reply.setHeader('content-type', 'text/html; charset=utf-8');
    reply.setHeader('content-security-policy', POLICY);
    reply.end(SANDBOX);
  });

  return {
    async open(browser, options) {
      const {
        url,
        token,
        tool,
        context = {},
        tellsTool = true,
        takesMessages = true,
        headers,
        viewport,
      } = options;
      const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities: APPS });
      const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
      await client.connect(new StreamableHTTPClientTransport(new URL('/run/v1/mcp', url), { requestInit }));
      const { tools } = await client.listTools();
      const listed = tools.find(({ name }) => name === tool);
      const ui = listed?._meta?.ui as { readonly resourceUri: string };
      const [resource] = (await client.readResource({ uri: ui.resourceUri })).contents as unknown as {
        readonly text: string;
        readonly _meta: { readonly ui: { readonly csp: object } };
      }[];
      const page = await openPage(browser, viewport && { viewport });
      const faults: string[] = [];
      const noted: [string, unknown][] = [];
      let isRefusing = false;
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      await page.exposeFunction('noted', (what: string, value: unknown) => void noted.push([what, value]));
      await page.exposeFunction('callTool', (params: { readonly name: string }) =>
        isRefusing ? null : client.callTool(params),
      );
      await page.goto(`http://127.0.0.1:${host.port}/`);
      const started: StartedCard = {
        sandbox: `http://localhost:${sandbox.port}/`,
        html: resource?.text ?? '',
        csp: resource?._meta.ui.csp ?? {},
        context: { ...context, ...(tellsTool && { toolInfo: { tool: listed } }) },
        arguments: options.arguments,
        takesMessages,
      };
      await page.evaluate((card) => (globalThis as never as typeof WINDOW).startCard(card), started);
      return {
        page,
        card: page.frameLocator('iframe').frameLocator('iframe'),
        frame() {
          const frame = page.frames().at(-1);
          if (frame === undefined) throw new Error('There is no card.');
          return frame;
        },
        noted,
        faults,
        async call() {
          const result = await client.callTool({ name: tool, arguments: options.arguments });
          await page.evaluate((one) => (globalThis as never as typeof WINDOW).sendResult(one), result);
          return result as CallToolResult;
        },
        callAny: async (name, args) => (await client.callTool({ name, arguments: args })) as CallToolResult,
        refuse(refuses) {
          isRefusing = refuses;
        },
        change: (next) =>
          page.evaluate((one) => (globalThis as never as typeof WINDOW).changeContext(one), next),
        async close() {
          await page.close();
          await client.close();
        },
      };
    },
    async stop() {
      for (const { server } of [host, sandbox]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

/** What the host's page has; only its type is used here. */
declare const WINDOW: {
  startCard(card: StartedCard): Promise<void>;
  sendResult(result: object): Promise<void>;
  changeContext(context: object): Promise<void>;
};
