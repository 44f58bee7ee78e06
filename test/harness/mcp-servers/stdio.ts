/**
 * An MCP server on stdio, as a program. Arguments: `new` or `old`, then how it behaves:
 * `dies-at-probe` (ends at the first request that is not `initialize`), `stubborn` (ends neither with its input nor
 * by SIGTERM), `asks` (its tools are those of asking.ts), `noisy` (says its environment and a lot more on stderr), `silent` (answers no unknown request).
 */
import { spawn } from 'node:child_process';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createAskingFixture } from './asking.ts';
import { newServer, oldServer } from './mcp-servers.ts';
import { anyTool, everyday, type Fixture } from './tools.ts';

const NAMES = ['environment', 'pid', 'count', 'crash', 'child'];
const [revision, ...ways] = process.argv.slice(2);
let calls = 0;

const asking = createAskingFixture();
const fixture: Fixture = {
  list: (cursor) => {
    const { tools } = everyday.list(cursor);
    if (ways.includes('asks')) tools.push(...asking.list(cursor).tools);
    return { tools: [...tools, ...NAMES.map((name) => anyTool(name))] };
  },
  call: async (name, args, context) => {
    calls += 1;
    switch (name) {
      case 'count':
        return said(String(calls));
      case 'environment':
        return said(JSON.stringify(process.env));
      case 'pid':
        return said(String(process.pid));
      case 'crash':
        return process.exit(7);
      case 'child':
        return said(String(spawn('/bin/sleep', ['600'], { stdio: 'inherit' }).pid));
      default:
        if (ways.includes('asks')) return asking.call(name, args, context);
        return everyday.call(name, args, context);
    }
  },
};

function said(text: string): unknown {
  return { content: [{ type: 'text', text }] };
}

if (ways.includes('stubborn')) {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1_000);
}
if (ways.includes('noisy')) {
  process.stderr.write(`the key is ${process.env.API_KEY}\n`);
  for (let i = 0; i < 200; i++) process.stderr.write(`line ${i}\n`);
}
if (revision === 'new') serveStdio(() => newServer(fixture));
else void serveOld();

async function serveOld(): Promise<void> {
  const transport = new StdioServerTransport();
  await oldServer(fixture).connect(transport as never);
  const heed = transport.onmessage?.bind(transport);
  transport.onmessage = (message) => {
    const isProbe = 'method' in message && message.method === 'server/discover';
    if (isProbe && ways.includes('dies-at-probe')) process.exit(3);
    if (isProbe && ways.includes('silent')) return;
    heed?.(message);
  };
}
