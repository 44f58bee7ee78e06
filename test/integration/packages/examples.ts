/**
 * The examples of `examples/`, each in a folder of its own with the packages of the registry, against one server of
 * `parley dev`. Examples for frameworks of agents have files of their own beside this one.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type ParleyClient } from '@parley/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureChromium } from '../../../demo/chromium.ts';
import { type MailServer, startMailServer } from '../../../stand-ins/mail-server/mail-server.ts';
import type { Turn } from '../../../stand-ins/scripted-model/script.ts';
import { type ScriptedModel, startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import type { InstallExample } from '../../harness/examples/install.ts';
import { startExample } from '../../harness/examples/start.ts';
import { freePort } from '../../harness/free-port.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import type { Consumer } from '../../harness/packages/consumer.ts';
import { type RunningDev, startDev } from '../../harness/packages/dev.ts';
import { answerByLink } from '../../harness/pages/answer-link.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { inBrowser } from './examples-in-browser.ts';

/** What the examples need of the suite that published the packages. */
interface ExamplesContext {
  readonly install: InstallExample;
  /** Has installed the command. */
  readonly command: Consumer;
}

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 'parley').toString('base64')}`;
const chromium = await ensureChromium((line) => void process.stdout.write(`${line}\n`), {
  prefersShell: true,
});

export function examples(context: () => ExamplesContext): void {
  describe('the examples', () => {
    let model: ScriptedModel;
    let mailServer: MailServer;
    let dev: RunningDev;
    let me: ParleyClient;
    let service: ParleyClient;

    beforeAll(async () => {
      const { command } = context();
      [model, mailServer] = await Promise.all([startScriptedModel({ script: [line] }), startMailServer()]);
      const agents = await readFile(
        new URL('../../../examples/vite-chat/agents.yaml', import.meta.url),
        'utf8',
      );
      const config = join(command.folder, 'agents.yaml');
      await writeFile(config, agents.replace('https://api.openai.com/v1', model.url));
      dev = await startDev(command, {
        PARLEY_CONFIG: config,
        OPENAI_API_KEY: 'any',
        // Turns are detached soon, so that chats have to resume them.
        PARLEY_HOLD_SECONDS: '1',
        PARLEY_WEBHOOK_SECRETS: `dev:${WEBHOOK_SECRET}`,
      });
      const { PARLEY_JWT_SECRET: secret = '', PARLEY_TENANT: tenant = '', PARLEY_TOKEN = '' } = dev.settings;
      me = createClient({ baseUrl: dev.url, token: await userToken({ secret, tenant, userId: 'me' }) });
      service = createClient({ baseUrl: dev.url, token: PARLEY_TOKEN });
    });
    afterAll(async () => {
      await dev?.stop();
      await model?.stop();
      mailServer?.stop();
    });

    /** Installs an example, with the settings that `parley env` prints and more. */
    async function open(name: string, settings: Readonly<Record<string, string>> = {}): Promise<Consumer> {
      const example = await context().install(name);
      const more = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
      await writeFile(join(example.folder, '.env'), dev.envFile + more.join(''));
      return example;
    }

    const questionsAbout = async (text: string) => {
      const { elicitations } = await me.list().page();
      return elicitations.filter(({ message }) => message.includes(text));
    };
    const asked = (text: string) =>
      waitUntil(async () => (await questionsAbout(text)).find(({ status }) => status === 'pending'), {
        what: `a question about ${text}`,
      });

    it('express-service: a question outlives the service that asked', async () => {
      const port = await freePort();
      const example = await open('express-service', { PORT: String(port) });
      const url = `http://localhost:${port}/refunds`;
      const start = () => startExample(example, ['npm', 'start'], /Refunds are taken/);
      const refund = async (order: string) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
        await fetch(url, { ...init, body: JSON.stringify({ order, euros: 40 }) });
        return asked(`order ${order}`);
      };
      const statusOf = async (order: string) =>
        ((await (await fetch(`${url}/${order}`)).json()) as { readonly status: string }).status;

      const first = await start();
      const [early, late] = [await refund('early'), await refund('late')];
      await first.stop();
      await me.answer(early.elicitationId, { action: 'accept', content: { pay: true } });
      await start();
      await waitUntil(async () => (await statusOf('early')) === 'paid', { what: 'the first refund' });
      expect(await statusOf('late')).toBe('waiting');
      await me.answer(late.elicitationId, { action: 'decline' });
      await waitUntil(async () => (await statusOf('late')) === 'refused', { what: 'the second refund' });
      expect(await questionsAbout('for order')).toHaveLength(2);
    });

    it('mail-by-webhook: what nobody answers is asked by mail, and answered by its link', async () => {
      const port = await freePort();
      const webhookUrl = `http://127.0.0.1:${port}/parley`;
      const settings = { PORT: String(port), WEBHOOK_URL: webhookUrl, WEBHOOK_SECRET, SECONDS: '1' };
      const example = await open('mail-by-webhook', { ...settings, SMTP_URL: mailServer.url });
      const receiver = await startExample(example, ['npm', 'start'], /Webhooks are received/);
      const forged = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
      expect((await fetch(webhookUrl, forged)).status).toBe(400);

      await example.run('npm', 'run', 'ask', 'Ship it?');
      const mail = await waitUntil(() => mailServer.mails[0], { what: 'a mail' });
      expect(mail).toMatchObject({ to: ['me@example.com'], subject: 'Ship it?' });
      const link = /^http\S+$/m.exec(mail.text)?.[0] ?? mail.text;
      expect((await answerByLink(link, { 'field-0': 'true' })).status).toBe(200);
      await receiver.untilSaid(/Ship it\? accepted \{ release: true \}/);
      expect(mailServer.mails).toHaveLength(1);
    });

    if (typeof chromium === 'string') inBrowser(chromium, { open, service: () => service });
    else suiteNotRun('the examples in a browser', chromium.reason);
  });
}

/** What the model of the chats says: it asks once, and repeats the answer. */
function line({ results }: Turn) {
  if (results.length > 0) return { text: `Then I plan: ${results.map(({ text }) => text).join(' ')}` };
  return { calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Where to?' } }] };
}
