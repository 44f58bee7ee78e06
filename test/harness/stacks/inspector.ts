/** MCP Inspector, unmodified: its command, its program that keeps connections (`mcpdo`), and its page. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import { type AskedOfClient, calledOf } from '../mcp-clients/clients.ts';
import { killWithParent } from '../processes/child-guard.ts';
import { waitUntil } from '../wait-until.ts';
import type { StackClient, StackClientOptions } from './clients.ts';
import { findInspector, type StackCommand, stackPath } from './packages.ts';

type Revision = '2025-11-25' | '2026-07-28';
const ERAS = { '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const;
const MCPDO = '@modelcontextprotocol/inspector/clients/mcpdo/build';
const START_MS = 30_000;

/** It keeps servers and secrets in the home of its user. */
const envAt = (home: string) => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  MCP_STORAGE_DIR: home,
  MCP_INSPECTOR_SECRET_STORE: 'memory',
});

function found(): StackCommand {
  const command = findInspector();
  if ('notRun' in command) throw new Error(command.notRun);
  return command;
}

/** Runs a script of the package, and returns the JSON that it prints. It exits with an error where a result is one, and prints it all the same. */
async function printed<Json>(script: string, args: readonly string[], home: string): Promise<Json> {
  const { stdout } = await promisify(execFile)(found().node, [script, ...args], { env: envAt(home) }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => {
      if (error.stdout === '') throw new Error(`MCP Inspector: ${error.stderr}`);
      return error;
    },
  );
  return JSON.parse(stdout) as Json;
}

/** Ends a process, which may write until its end. */
async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.kill()) return;
  await once(child, 'exit');
}

const targetOf = ({ url, token }: Pick<StackClientOptions, 'url' | 'token'>) => [
  ...[url, '--transport', 'http'],
  ...['--header', `Authorization: Bearer ${token}`],
];

/** What the command prints, with these options of its own. */
export function inspect<Json>(
  options: Pick<StackClientOptions, 'url' | 'token'>,
  ...args: readonly string[]
): Promise<Json> {
  return printed(found().script, ['--cli', ...targetOf(options), ...args], tmpdir());
}

/** The command, a process for each call. It shows no question. */
export const inspector =
  (revision: Revision = '2025-11-25') =>
  async (options: StackClientOptions): Promise<StackClient> => {
    const run = <Json>(...args: string[]) =>
      inspect<Json>(options, '--protocol-era', ERAS[revision], ...args);
    return {
      async listTools() {
        const { tools } = await run<{ readonly tools: readonly { readonly name: string }[] }>(
          ...['--method', 'tools/list'],
        );
        return tools.map(({ name }) => name);
      },
      async call(tool, input = {}) {
        const pairs = Object.entries(input).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
        return calledOf(await run('--method', 'tools/call', '--tool-name', tool, ...pairs));
      },
      close: async () => undefined,
    };
  };

/** A question, as `mcpdo` prints it. `origin` says by what it was asked. */
export interface AskedOfMcpdo extends AskedOfClient {
  readonly elicitationId: string;
  readonly origin: string;
}

/** `mcpdo` with 2026-07-28: commands on a connection that a process of its own keeps. A command that is asked something prints the question and ends. */
export async function mcpdo(
  options: Omit<StackClientOptions, 'answer'> & {
    answer(asked: AskedOfMcpdo): ReturnType<StackClientOptions['answer']>;
  },
): Promise<StackClient> {
  const home = await mkdtemp(join(tmpdir(), 'mcpdo-'));
  const daemon = spawn(found().node, [stackPath(`${MCPDO}/mcpdod.js`)], {
    env: envAt(home),
    stdio: 'ignore',
  });
  killWithParent(daemon);
  await waitUntil(() => existsSync(join(home, 'mcpdod.sock')), { what: 'mcpdo', timeoutMs: START_MS });
  const run = <Json>(...args: string[]): Promise<Json> =>
    printed(stackPath(`${MCPDO}/mcp-bin.js`), ['--format', 'json', ...args], home);
  const { name } = await run<{ readonly name: string }>(
    ...['connect', ...targetOf(options), '--era', 'modern'],
  );
  const onIt = ['--connection', name];
  return {
    async listTools() {
      const { tools } = await run<{ readonly tools: readonly { readonly name: string }[] }>(
        ...['tools/list', ...onIt],
      );
      return tools.map((tool) => tool.name);
    },
    async call(tool, input = {}) {
      let said = await run<{ readonly elicitationPending?: AskedOfMcpdo }>(
        ...['tools/call', tool, '--tool-args-json', JSON.stringify(input), ...onIt],
      );
      while (said.elicitationPending !== undefined) {
        const asked = said.elicitationPending;
        const { action, content } = await options.answer(asked);
        const how = action === 'accept' ? JSON.stringify(content) : `--${action}`;
        said = await run('elicitation/respond', asked.elicitationId, how);
      }
      return calledOf(said);
    },
    async close() {
      await endOf(daemon);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Starts the page with one server, `Parley`, and returns its address. */
export async function startInspectorPage(
  { url, token }: Pick<StackClientOptions, 'url' | 'token'>,
  revision: Revision = '2025-11-25',
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { node, script } = found();
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  const config = join(home, 'servers.json');
  const headers = { Authorization: `Bearer ${token}` };
  const parley = { type: 'streamable-http', url, headers, protocolEra: ERAS[revision] };
  await writeFile(config, JSON.stringify({ mcpServers: { Parley: parley } }));
  const [client, sandbox] = await Promise.all([freePort(), freePort()]);
  const env = {
    ...envAt(home),
    CLIENT_PORT: String(client),
    MCP_SANDBOX_PORT: String(sandbox),
    MCP_AUTO_OPEN_ENABLED: 'false',
  };
  const child = spawn(node, [script, '--web', '--config', config], { cwd: dirname(config), env });
  killWithParent(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += String(data);
    });
  const address = await waitUntil(
    () => {
      if (child.exitCode !== null) throw new Error(`MCP Inspector has ended: ${output}`);
      return /http:\S+MCP_INSPECTOR_API_TOKEN=\S+/.exec(output)?.[0];
    },
    { what: 'the page of MCP Inspector', timeoutMs: START_MS },
  );
  return {
    url: address,
    async stop() {
      await endOf(child);
      await rm(home, { recursive: true, force: true });
    },
  };
}
