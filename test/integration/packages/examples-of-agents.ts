/**
 * The examples for frameworks of agents and workflows: each asks, is killed while it waits, asks on after its restart, and goes on
 * with the answer once. The chats and services are in examples.ts.
 */
import { existsSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Answer } from '@parley/core';
import { createClient, type ParleyClient } from '@parley/sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../../infra/release/packages.ts';
import { nodePath } from '../../../infra/release/tools.ts';
import { startMessagesModel } from '../../../stand-ins/messages-model/messages-model.ts';
import { startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import type { InstallExample } from '../../harness/examples/install.ts';
import { startExample } from '../../harness/examples/start.ts';
import { historyOfRefund, REPLAY } from '../../harness/examples/temporal-history.ts';
import { freePort } from '../../harness/free-port.ts';
import { testNotRun } from '../../harness/not-run.ts';
import type { Consumer } from '../../harness/packages/consumer.ts';
import { type RunningDev, startDev } from '../../harness/packages/dev.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import { PYTHON_SOURCES, pythonNotRun } from '../../harness/python/bridge.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

interface ExamplesContext {
  readonly install: InstallExample;
  /** Has installed the command. */
  readonly command: Consumer;
}

const PAY: Answer = { action: 'accept', content: { pay: true } };
const APPROVE: Answer = { action: 'accept', content: { decision: 'approved' } };
const WAITS = /Waiting for/;

export function examplesOfAgents(context: () => ExamplesContext): void {
  describe('the examples for agents', () => {
    let dev: RunningDev;
    let me: ParleyClient;

    beforeAll(async () => {
      dev = await startDev(context().command);
      const { PARLEY_JWT_SECRET: secret = '', PARLEY_TENANT: tenant = '' } = dev.settings;
      me = createClient({ baseUrl: dev.url, token: await userToken({ secret, tenant, userId: 'me' }) });
    });
    afterAll(async () => {
      await dev?.stop();
    });

    async function open(name: string, settings: Readonly<Record<string, string>> = {}): Promise<Consumer> {
      const example = await context().install(name);
      const more = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
      await writeFile(join(example.folder, '.env'), dev.envFile + more.join(''));
      return example;
    }

    /** The id of the open question about something, once it is asked. It is the only one but those that have ended. */
    async function asked(about: string, ended: readonly string[] = []): Promise<string> {
      const newest = async () => {
        const { elicitations } = await me.list().page();
        const found = elicitations.filter(({ message }) => message.includes(about));
        return found.length > ended.length && found;
      };
      const found = await waitUntil(newest, { what: `a question about ${about}` });
      expect(found.map(({ status }) => status)).toEqual(['pending', ...ended]);
      return found[0]?.elicitationId ?? '';
    }

    async function answerTo(about: string, answer: Answer): Promise<void> {
      await me.answer(await asked(about), answer);
    }

    /** Starts the command of an example, kills it while a person is asked, starts it again and answers. Returns what both said. */
    async function survive(example: Consumer, command: readonly string[], about: string, answer: Answer) {
      const first = await startExample(example, command, WAITS);
      await asked(about);
      const before = await first.kill();
      const second = await startExample(example, command, WAITS);
      await answerTo(about, answer);
      return before + (await second.untilEnded());
    }

    it('langgraph: a graph goes on from its checkpoint', async () => {
      const example = await open('langgraph');
      const start = ['npm', 'start', '--', '7.1'];
      const said = await survive(example, start, 'version 7.1', {
        action: 'accept',
        content: { channel: 'beta' },
      });
      expect(said.match(/^Published.*$/gm)).toEqual(['Published 7.1 to beta.']);
    });

    it('openai-agents: a run goes on with the approved call', async () => {
      const call = { name: 'refund', arguments: { order: 'O-1', euros: 40 } };
      const model = await startScriptedModel({
        script: [
          ({ results: [result] }) => (result === undefined ? { calls: [call] } : { text: result.text }),
        ],
      });
      onTestFinished(model.stop);
      const example = await open('openai-agents', {
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: 'any',
        OPENAI_AGENTS_DISABLE_TRACING: '1',
      });
      const said = await survive(example, ['npm', 'start'], 'O-1', APPROVE);
      expect(said.match(/^(?:Paid.*|paid)$/gm)).toEqual(['Paid 40 euros back for order O-1.', 'paid']);
      // The one that made the call, and the one with its result.
      expect(model.requests).toHaveLength(2);
    });

    it('python-service: a question outlives the service that asked', async (test) => {
      const why = await pythonNotRun();
      if (why !== undefined) testNotRun(test, why);
      const folder = join(context().command.folder, 'python-service');
      await cp(join(ROOT, 'examples/python-service'), folder, { recursive: true });
      const PORT = String(await freePort());
      const env = { ...process.env, ...dev.settings, PORT, PYTHONPATH: PYTHON_SOURCES };
      const start = () =>
        startExample({ ...context().command, folder, env }, ['python3', 'service.py'], /are taken/);
      const url = `http://127.0.0.1:${PORT}/refunds`;
      const statusOf = async () => ((await (await fetch(`${url}/P-1`)).json()) as { status: string }).status;

      const first = await start();
      const body = JSON.stringify({ order: 'P-1', euros: 30 });
      for (let time = 0; time < 2; time += 1) await fetch(url, { method: 'POST', body });
      await asked('P-1');
      await first.kill();
      const second = await start();
      expect(await statusOf()).toBe('waiting');
      await answerTo('P-1', PAY);
      await second.untilSaid(/is paid/);
      expect(await statusOf()).toBe('paid');
      expect((await second.kill()).match(/is paid/g)).toHaveLength(1);
    });

    describe.runIf(isFullSize)('with packages of their own', () => {
      it('mastra: a suspended run goes on', async () => {
        const example = await open('mastra');
        const { env } = example;
        const path = [dirname(nodePath(22)), env.PATH].join(delimiter);
        const onNode22 = { ...example, env: { ...env, PATH: path } };
        const said = await survive(onNode22, ['npm', 'start', '--', 'M-1', '40'], 'M-1', PAY);
        expect(said.match(/^Paid.*$/gm)).toEqual(['Paid 40 euros back for order M-1.']);
      });

      it('claude-agent-sdk: its tools run after an approval alone', async () => {
        const example = await open('claude-agent-sdk');
        const file = join(example.folder, 'hello.txt');
        const model = await startMessagesModel({
          name: 'Write',
          input: { file_path: file, content: 'Hello' },
        });
        onTestFinished(model.stop);
        const settings = {
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: 'any',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        };
        const local = { ...example, env: { ...example.env, ...settings } };
        const decide = async (decision: string, ended: readonly string[]) => {
          const agent = await startExample(local, ['npm', 'start'], WAITS);
          await me.answer(await asked(file, ended), { action: 'accept', content: { decision } });
          expect(await agent.untilEnded()).toContain('It is done.');
        };
        await decide('denied', []);
        expect(model.results).toMatchObject([{ is_error: true }]);
        expect(existsSync(file)).toBe(false);
        await decide('approved', ['accepted']);
        expect(await readFile(file, 'utf8')).toBe('Hello');
      });

      it('temporal: a second attempt finds the question, and the workflow pays after it', async () => {
        const example = await open('temporal');
        const said = await survive(example, ['npm', 'run', 'activities', '--', 'T-1'], 'T-1', PAY);
        expect(said.match(/^Paid.*$/gm)).toEqual(['Paid 40 euros back for order T-1.']);
        // No server of Temporal can be installed here.
        await writeFile(join(example.folder, 'replay.ts'), REPLAY);
        const history = JSON.stringify(historyOfRefund({ order: 'T-1', euros: 40 }));
        await writeFile(join(example.folder, 'history.json'), history);
        await example.run('npx', 'tsx', 'replay.ts');
        await writeFile(join(example.folder, 'history.json'), history.replace('"pay"', '"pay-more"'));
        await expect(example.run('npx', 'tsx', 'replay.ts')).rejects.toThrow("activity command 'pay'");
      });

      it('vercel-workflow: the local world goes on with the run', async () => {
        const PORT = String(await freePort());
        const example = await open('vercel-workflow', {
          PORT,
          HOST: '127.0.0.1',
          WORKFLOW_TARGET_WORLD: 'local',
        });
        await example.run('npm', 'run', 'build');
        const first = await startExample(example, ['npm', 'start'], /Listening/);
        const body = JSON.stringify({ order: 'V-1', euros: 40 });
        const headers = { 'content-type': 'application/json' };
        const begun = await fetch(`http://127.0.0.1:${PORT}/refunds`, { method: 'POST', headers, body });
        expect(begun.status).toBe(200);
        await first.untilSaid(WAITS);
        const before = await first.kill();
        const second = await startExample(example, ['npm', 'start'], WAITS);
        await answerTo('V-1', PAY);
        await second.untilSaid(/Paid/);
        const after = await second.kill();
        expect((before + after).match(/^Paid.*$/gm)).toEqual(['Paid 40 euros back for order V-1.']);
      });
    });
  });
}
