/**
 * An MCP server on stdio, as a program. Arguments: `new`, `old` or `both`, then how it behaves:
 * `dies-at-probe` (ends at the first request that is not `initialize`), `stubborn` (ends neither with its input nor
 * by SIGTERM), `asks` (its tools are those of asking.ts), `noisy` (says its environment and a lot more on stderr), `silent` (answers no unknown request),
 * `typescript` (the server of revisions.ts).
 */
import { spawn } from 'node:child_process';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createAskingFixture } from './asking.ts';
import { newServer } from './mcp-servers.ts';
import { oldServer } from './old-server.ts';
import { createRevisionServers } from './revisions.ts';
import { anyTool, everyday, type Fixture, said } from './tools.ts';

const [revision, ...ways] = process.argv.slice(2);
let calls = 0;

const OWN: Readonly<Record<string, () => unknown>> = {
  count: () => calls,
  environment: () => JSON.stringify(process.env),
  pid: () => process.pid,
  crash: () => process.exit(7),
  child: () => spawn('/bin/sleep', ['600'], { stdio: 'inherit' }).pid,
};
const others = ways.includes('asks') ? createAskingFixture() : everyday;
const fixture: Fixture = {
  list: (cursor) => ({
    tools: [...others.list(cursor).tools, ...Object.keys(OWN).map((name) => anyTool(name))],
  }),
  call: async (name, args, context) => {
    calls += 1;
    const own = OWN[name];
    return own === undefined ? others.call(name, args, context) : said(String(own()));
  },
};

if (ways.includes('stubborn')) {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1_000);
}
if (ways.includes('noisy')) {
  process.stderr.write(`the key is ${process.env.API_KEY}\n`);
  for (let i = 0; i < 200; i++) process.stderr.write(`line ${i}\n`);
}
const make = createRevisionServers().typescript;
if (revision === 'both') serveStdio(({ era }) => make(era));
else if (revision === 'new')
  serveStdio(() => (ways.includes('typescript') ? make('modern') : newServer(fixture)), { legacy: 'reject' });
else void serveOld();

async function serveOld(): Promise<void> {
  const transport = new StdioServerTransport();
  const server = ways.includes('typescript') ? make('legacy') : oldServer(fixture);
  await server.connect(transport as never);
  const heed = transport.onmessage?.bind(transport);
  transport.onmessage = (message) => {
    const isProbe = 'method' in message && message.method === 'server/discover';
    if (isProbe && ways.includes('dies-at-probe')) process.exit(3);
    if (isProbe && ways.includes('silent')) return;
    heed?.(message);
  };
}
