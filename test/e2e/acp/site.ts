import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import { startScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { openPodPair } from '../../harness/site/pod-pair.ts';
import { openSite } from '../../harness/site/site.ts';

const PROGRAM = fileURLToPath(new URL('../../harness/acp/program.mjs', import.meta.url));
/** The command `parley acp` of this checkout, which runs from its sources. */
export const PARLEY = [fileURLToPath(new URL('../../../clients/cli/bin/parley.js', import.meta.url)), 'acp'];

/** Two pods behind a proxy that gives each request to the next one. */
export interface AcpPods {
  readonly url: string;
  readonly folder: string;
  token(userId: string): Promise<string>;
  /** Starts `parley acp` for a person, from a bundle: from its sources it takes six times as long. */
  serve(userId: string): Promise<ChildProcessByStdio<Writable, Readable, null>>;
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
  const folder = mkdtempSync(join(tmpdir(), 'parley-acp-'));
  const [site, model] = await Promise.all([openSite(), startScriptedModel({ script: [line], delayMs: 1 })]);
  const config = join(folder, 'agents.yaml');
  writeFileSync(
    config,
    `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.url}", model: scripted }
acpAgents:
  coder: { title: Coder, command: "${process.execPath}", args: ["${PROGRAM}"], cwd: "${folder}" }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true, delegates: [{ agent: coder, description: Codes. }] }
`,
  );
  const pods = await openPodPair(site, { config });
  const children: ReturnType<typeof spawn>[] = [];
  return {
    url: pods.url,
    folder,
    token: pods.token,
    async serve(userId) {
      const program = await bundleEntry('clients/cli/src/main.ts');
      const child = spawn(process.execPath, [program, 'acp'], {
        env: { PATH: process.env.PATH ?? '', PARLEY_URL: pods.url, PARLEY_TOKEN: await pods.token(userId) },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      return child;
    },
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
      await model.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
