import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from '@modelcontextprotocol/ext-apps/server';
import { McpServer } from '@modelcontextprotocol/server';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';
import { widgetBuild } from '../../harness/widget/site-build.ts';
import { views } from './views.ts';

const SANDBOX = new URL('../../../clients/widget/sandbox/sandbox.html', import.meta.url);
const RESULT = {
  content: [{ type: 'text' as const, text: 'Order 7 is paid.' }],
  structuredContent: { paid: true },
  _meta: { 'acme/tab': 2 },
};

/** A server of the extension's own helpers: each page has a tool that shows it. */
export async function serveShop(called: string[]): Promise<ServedMcp> {
  const pages = await views();
  return serveMcp(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    for (const [uri, html] of Object.entries(pages)) {
      const name = uri.slice('ui://'.length, -'.html'.length);
      const tools = name === 'order' ? ['order', 'refund', 'track'] : [name];
      for (const tool of tools)
        registerAppTool(
          server,
          tool,
          {
            description: tool,
            _meta: { ui: { resourceUri: uri, ...(tool !== name && { visibility: ['app'] }) } },
          },
          async () => {
            called.push(tool);
            return RESULT;
          },
        );
      registerAppResource(server, name, uri, {}, async () => ({
        contents: [{ uri, mimeType: RESOURCE_MIME_TYPE, text: html }],
      }));
    }
    return server;
  });
}

/** A page with the element on one origin, and the sandbox on another. */
export interface AppSite {
  readonly origin: string;
  /** The pod to which calls of the page go. */
  pod: string;
  close(): void;
}

const PAGE = (sandbox: string) => `<!doctype html><html lang="en"><head><title>Chat</title>
<meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width">
</head><body><main><h1>Chat</h1><parley-app service="Shop" sandbox-url="${sandbox}/sandbox.html"></parley-app></main>
<script type="module" src="/parley-app.js"></script></body></html>`;

export async function startAppSite(): Promise<AppSite> {
  const outdir = await mkdtemp(join(tmpdir(), 'parley-app-'));
  const { bundle } = await widgetBuild();
  await bundle('parley-app', outdir);
  const script = await readFile(join(outdir, 'parley-app.js'));
  await rm(outdir, { recursive: true });
  const sandboxHtml = await readFile(SANDBOX);
  const sandbox = await listen(async (request, response) => {
    response
      .writeHead(request.url === '/sandbox.html' ? 200 : 404, { 'content-type': 'text/html' })
      .end(sandboxHtml);
  });
  const site: AppSite = {
    origin: '',
    pod: '',
    close() {
      page.close();
      sandbox.close();
    },
  };
  const page = await listen(async (request, response) => {
    const { url = '/' } = request;
    if (url === '/parley-app.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
      return;
    }
    if (url.startsWith('/run/')) return pass(site.pod, request, response);
    const policy = `default-src 'none'; script-src 'self'; connect-src 'self'; frame-src ${sandbox.origin}`;
    response
      .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
      .end(PAGE(sandbox.origin));
  });
  Object.assign(site, { origin: page.origin });
  return site;
}

async function pass(pod: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await new Response(request as never).text();
  const { method = 'GET', headers } = request;
  const reply = await fetch(`${pod}${request.url}`, {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      'content-type': 'application/json',
      'x-supports-elicitation': String(headers['x-supports-elicitation'] ?? ''),
    },
    ...(method === 'POST' && { body }),
  });
  response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text());
}

async function listen(serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server: HttpServer = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const port = await listenOnFreePort(server);
  await (server.listening || once(server, 'listening'));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}
