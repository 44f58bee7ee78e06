import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { type AnswerTo, connectEditor, type Editor } from '../../harness/acp/setup.ts';

import { bundleEntry } from '../../harness/processes/bundle.ts';
import { openPodPair } from '../../harness/site/pod-pair.ts';
import { openSite } from '../../harness/site/site.ts';
import { ACPX_RUNNER, type StackCommand } from '../../harness/stacks/packages.ts';

const PROGRAM = fileURLToPath(new URL('../../harness/acp/program.mjs', import.meta.url));

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: readonly string[];
  /** What it wrote to stderr. */
  readonly noise: readonly string[];
  readonly exited: Promise<number | null>;
}

/** Two pods behind a proxy that gives each request to the next one. */
export interface AcpPods {
  readonly url: string;
  token(userId: string): Promise<string>;
  /** An editor with `parley acp`, whose person answers once they are released. */
  openEditor(userId: string): Promise<{ readonly editor: Omit<Editor, 'log'>; release(): void }>;
  /** Starts a turn in the runtime of acpx, with `parley acp` as its agent. */
  startRunner(acpx: StackCommand, text: string, content: object): Promise<Started>;
  /** Starts the command of acpx. */
  startCommand(acpx: StackCommand, text: string): Promise<Started>;
  /** Kills the pods one after the other; another one takes each one's place. */
  replaceAll(): Promise<void>;
  stop(): Promise<void>;
}

/** `code <words>` hands the words to the ACP program; `guess` asks with a default; everything else asks for a colour. */
function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard ${results.map(({ text }) => text).join(' ')}.` };
  const [word, ...rest] = userText.split(' ');
  if (word === 'code') return { calls: [{ name: 'delegate_to_coder', arguments: { task: rest.join(' ') } }] };
  const more = word === 'guess' ? { default: 'grey' } : {};
  const ask = { kind: 'text', title: 'Colour', message: `Which colour for ${userText}?`, ...more };
  return { text: 'One moment.', calls: [{ name: 'elicit', arguments: ask }] };
}

export async function openAcpPods(): Promise<AcpPods> {
  const site = await openSite();
  const { folder } = site;
  const model = await site.model({ script: [line], delayMs: 1 });
  const config = site.agents(
    model.url,
    `acpAgents:
  coder: { title: Coder, command: "${process.execPath}", args: ["${PROGRAM}"], cwd: "${folder}" }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true, delegates: [{ agent: coder, description: Codes. }] }
`,
  );
  const pods = await openPodPair(site, { config });
  const children: ChildProcessWithoutNullStreams[] = [];
  // From a bundle: from its sources it takes six times as long to start.
  const program = await bundleEntry('clients/cli/src/main.ts');

  async function start(node: string, args: readonly string[], userId: string): Promise<Started> {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, PARLEY_URL: pods.url };
    const child = spawn(node, args, {
      env: { ...env, PARLEY_TOKEN: await pods.token(userId) },
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    children.push(child);
    const noise: string[] = [];
    createInterface({ input: child.stderr }).on('line', (text) => noise.push(text));
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    return { child, lines: [], noise, exited };
  }

  async function startReading(...of: Parameters<typeof start>): Promise<Started> {
    const started = await start(...of);
    const lines: string[] = [];
    createInterface({ input: started.child.stdout }).on('line', (text) => lines.push(text));
    return { ...started, lines };
  }
  const command = [process.execPath, program, 'acp'].join(' ');

  return {
    url: pods.url,
    token: pods.token,
    async openEditor(userId) {
      const { child } = await start(process.execPath, [program, 'acp'], userId);
      const readable = Readable.toWeb(child.stdout) as ReadableStream;
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const answer: AnswerTo = async ({ message }) => {
        await released;
        const content = message.includes('colour') ? { answer: `green ${message}` } : { city: 'Rome' };
        return { action: 'accept', content };
      };
      const modes = { elicitation: { form: {}, url: {} } };
      const editor = await connectEditor(ndJsonStream(Writable.toWeb(child.stdin), readable), modes, answer);
      return { editor, release };
    },
    startRunner({ node }, text, content) {
      const input = { command, cwd: folder, stateDir: join(folder, 'acpx'), text, content };
      return startReading(node, [ACPX_RUNNER, JSON.stringify(input)], 'fay');
    },
    startCommand: ({ node, script }, text) =>
      startReading(node, [script, '--agent', command, 'exec', text], 'gil'),
    async replaceAll() {
      for (let count = 0; count < 2; count += 1) {
        const replace = await pods.kill();
        await replace();
      }
    },
    async stop() {
      for (const child of children) child.kill();
      await pods.close();
      await site.stop();
    },
  };
}
