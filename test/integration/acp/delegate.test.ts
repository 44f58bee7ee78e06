import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Support } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAcpProcesses } from '../../../services/api/src/agents/acp/programs.ts';
import type { ScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { paced } from '../../harness/pace.ts';
import {
  type Answered,
  answer,
  closeAfterTest,
  openDelegatingPod,
  outcomeOf,
  questions,
  startHandingModel,
} from '../../harness/protocols/delegating-pod.ts';
import { listOpen } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../../harness/acp/program.mjs', import.meta.url));
const KEY = 'the-key-of-the-program-0123456789';

let model: ScriptedModel;
const folder = mkdtempSync(join(tmpdir(), 'parley-acp-'));
beforeAll(async () => {
  model = await startHandingModel('delegate_to_coder');
});
afterAll(async () => {
  await model?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Options {
  readonly support?: Support;
  /** More of the ACP agent's entry. */
  readonly entry?: string;
  readonly limits?: string;
  readonly cwd?: string;
  /** Of ACP, which the program speaks. */
  readonly version?: number;
}

/** A turn whose agent hands the words to the program. */
async function handOver(
  words: string,
  { support, entry = '', limits = '', cwd = folder, version = 1 }: Options = {},
) {
  const log = join(folder, `${crypto.randomUUID()}.log`);
  const backend = createMemoryBackend(ROOMY);
  const acp = createAcpProcesses({ onStderr: () => undefined });
  const pod = openDelegatingPod({
    model,
    backend,
    file: `acpAgents:
  coder: { title: Coder, command: "${process.execPath}", args: ["${PROGRAM}", "${version}"], env: [ACP_KEY, ACP_LOG], cwd: "${cwd}"${entry} }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., delegates: [{ agent: coder, description: Codes. }], limits: { steps: 5${limits} } }
`,
    env: { ACP_KEY: KEY, ACP_LOG: log },
    toolbox: { acp },
  });
  closeAfterTest(() => backend.close(), acp.close, pod.close);
  const begun = await pod.handOver(words, { delivery: 'hold', ...(support !== undefined && { support }) });
  return {
    stop: () => pod.turns.stop(begun.conversation),
    /** Has the program take its question back. */
    retract: () => writeFileSync(`${log}.retract`, ''),
    noted: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    /** The open question of the program. */
    async question() {
      const [asked] = await questions(pod, begun);
      if (asked === undefined) throw new Error('There is none.');
      return asked;
    },
    open: () => listOpen(pod.engine, begun.conversation),
    answer: (id: string, response: Answered) => answer(pod, begun, id, response),
    /** What the model said at the end: the outcome of its call. */
    ended: () => outcomeOf(pod, begun),
  };
}

describe('an ACP agent as a delegate', () => {
  it('gets exactly the environment that is configured, and its secrets are removed from its reply', async () => {
    const { ended } = await handOver('environment');
    const text = await ended();
    expect(text).toContain('environment=');
    const environment = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as object;
    expect(Object.keys(environment).toSorted()).toEqual(['ACP_KEY', 'ACP_LOG', 'PARLEY_PROGRAM']);
    expect(text).not.toContain(KEY);
  });

  it('asks by form on the stream of the turn, and gets the checked answer, a decline and a cancel as they are [ACP-18 ACP-27 ACP-29]', async () => {
    const { question, answer, ended } = await handOver('form form form');
    const asked = await question();
    expect(asked.definition).toMatchObject({
      mode: 'form',
      message: 'Where to?',
      title: 'Coder asks',
      context: { trigger: 'acp_elicitation', toolName: 'Coder' },
    });
    const wrong = answer(asked.id, { action: 'accept', content: { city: 'X' } });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_answer' });
    await answer(asked.id, { action: 'accept', content: { city: 'Rome' } });
    for (const action of ['decline', 'cancel'] as const) await answer((await question()).id, { action });
    const text = await ended();
    expect(text).toContain('form={"action":"accept","content":{"city":"Rome"}}');
    for (const action of ['decline', 'cancel']) expect(text).toContain(`form={"action":"${action}"}`);
  });

  it('gets the consent to a url without content, and its ids name nothing of ours [ACP-30 ACP-34 ACP-37]', async () => {
    const { question, answer, ended } = await handOver('url');
    const asked = await question();
    expect(asked.definition).toMatchObject({ mode: 'url', url: 'https://terms.example/' });
    expect(asked.id).not.toBe('one');
    await answer(asked.id, { action: 'accept' });
    expect(await ended()).toContain('url={"action":"accept"}');
  });

  it('is refused with -32602 what was not declared, is unknown, is nested, names a secret or another session [ACP-38 ACP-49]', async () => {
    const support = { form: true, url: false };
    const { ended, open } = await handOver('modes url unknown modeless nested secret foreign', { support });
    const text = await ended();
    expect(text).toContain('modes={"form":{}}');
    for (const word of ['url', 'unknown', 'modeless', 'nested', 'secret', 'foreign'])
      expect(text).toContain(`${word}={"error":-32602}`);
    expect(await open()).toEqual([]);
  });

  it('is told of no mode where nobody can be asked, and permissions are refused then', async () => {
    const { ended } = await handOver('modes form permit', { support: { form: false, url: false } });
    const text = await ended();
    expect(text).toContain('modes={}');
    expect(text).toContain('form={"error":-32602}');
    expect(text).toContain('"optionId":"no"');
  });

  it('asks for permissions, and is permitted only what was chosen', async () => {
    const { question, answer, ended } = await handOver('permit permit permit permit');
    for (const response of [
      { action: 'accept', content: { decision: 'yes' } },
      { action: 'accept', content: { decision: 'no' } },
      { action: 'decline' },
      { action: 'cancel' },
    ] as const) {
      const asked = await question();
      expect(asked.definition).toMatchObject({
        message: 'Delete the file',
        description: '{"path":"/tmp/a"}',
        context: { trigger: 'acp_permission' },
      });
      await answer(asked.id, response);
    }
    const chosen = [...(await ended()).matchAll(/"optionId":"(\w+)"/g)].map(([, id]) => id);
    expect(chosen).toEqual(['yes', 'no', 'no', 'no']);
  });

  it('shows no value of its environment to the person', async () => {
    const { question, answer, ended } = await handOver('leak leakForm leakUrl');
    for (const _ of [1, 2, 3]) {
      const asked = await question();
      expect(JSON.stringify(asked.definition)).toContain('[redacted]');
      expect(JSON.stringify(asked.definition)).not.toContain(KEY);
      await answer(asked.id, { action: 'decline' });
    }
    await ended();
  });

  it('can only be refused a call that is not shown whole', async () => {
    const { question, answer, ended } = await handOver('long diff deep');
    for (const _ of [1, 2, 3]) {
      const asked = await question();
      expect(asked.definition.description).toContain('Not everything of this call can be shown');
      const decide = (decision: string) => answer(asked.id, { action: 'accept', content: { decision } });
      await expect(decide('yes')).rejects.toMatchObject({ code: 'invalid_answer' });
      await decide('no');
    }
    expect((await ended()).match(/"optionId":"no"/g)).toHaveLength(3);
  });

  it('takes a question back, which is then withdrawn [ACP-61]', async () => {
    const { question, ended, open, retract } = await handOver('retract');
    await question();
    retract();
    expect(await ended()).toContain('retract={"action":"cancel"}');
    expect(await open()).toEqual([]);
  });

  it.each([
    ['form', '{"action":"cancel"}'],
    ['permit', '{"outcome":{"outcome":"cancelled"}}'],
  ])(
    'is cancelled when its turn is stopped, and its question is withdrawn: %s [ACP-56 ACP-57]',
    async (word, told) => {
      const { question, open, stop, noted, ended } = await handOver(`${word} modes`);
      await question();
      await stop();
      await ended();
      // The last word comes after an update of the one before.
      await waitUntil(() => noted().includes('modes {'), { what: 'the end of the program' });
      expect(noted()).toMatch(/^cancel$/m);
      expect(noted()).toContain(`${word} ${told}`);
      expect(await open()).toEqual([]);
    },
  );

  it('does not use up its time while a person thinks, but while it works', async () => {
    // So long that the program has started by then on a busy machine, too.
    const limit = paced(5);
    const entry = `, taskTimeoutSeconds: ${limit}`;
    const { question, answer, ended, noted } = await handOver('form wait', { entry });
    const asked = await question();
    await new Promise((resolve) => setTimeout(resolve, 1_000 * limit + 200));
    await answer(asked.id, { action: 'accept', content: { city: 'Rome' } });
    expect(await ended()).toContain('Coder did not finish in time');
    expect(noted()).toContain('form {"action":"accept"');
    await waitUntil(() => noted().includes('cancel'), { what: 'the cancellation' });
  });

  it('that ends early, cannot be started or asks too much fails its call with a plain reason [ACP-51]', async () => {
    expect(await (await handOver('crash')).ended()).toContain('its process ended early');
    expect(await (await handOver('form', { cwd: '/nowhere/at/all' })).ended()).toContain('does not exist');
    expect(await (await handOver('form', { version: 2 })).ended()).toContain('another version of ACP');
    const { question, answer, ended } = await handOver('form form', { limits: ', questionsPerCall: 1' });
    await answer((await question()).id, { action: 'decline' });
    expect(await ended()).toContain('form={"error":-32602}');
    expect(await (await handOver('insist')).ended()).toContain('did not stop asking');
  });

  it('whose question is refused has asked all the same', async () => {
    const { open, ended } = await handOver('secret form', { limits: ', questionsPerCall: 1' });
    expect(await ended()).toContain('form={"error":-32602}');
    expect(await open()).toEqual([]);
  });
});
