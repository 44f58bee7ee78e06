import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { ParleyClientError } from '@parley/sdk';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from '../../infra/demo/chromium.ts';
import { type ChaosProxy, createChaosProxy } from '../harness/chaos/proxy.ts';
import { listenOnFreePort } from '../harness/free-port.ts';
import { describeInChromium } from '../harness/in-chromium.ts';
import { type Pod, startPod } from '../harness/processes/processes.ts';
import { colourQuestion, newUser, POD_ENV, serviceAt, tokenOf } from '../harness/sdk/setup.ts';
import { waitUntil } from '../harness/wait-until.ts';

// A pod starts slowly on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

type Sdk = typeof import('@parley/sdk');
declare const parley: Sdk;
/** The notes of a page. */
declare const noted: string[];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

async function bundle() {
  const built = await build({
    absWorkingDir: ROOT,
    entryPoints: ['clients/sdk/src/index.ts'],
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'parley',
    platform: 'browser',
    conditions: ['parley-source'],
    metafile: true,
    write: false,
  });
  return { text: built.outputFiles[0]?.text ?? '', inputs: Object.keys(built.metafile.inputs) };
}

describe('the bundle', () => {
  it('contains the client and the core only, and is small', async () => {
    const { text, inputs } = await bundle();
    const allowed =
      /^(clients\/(?:core|sdk)\/src\/|shared\/src\/domain\/(?:elicitations\/status|plain-record)\.ts$)/;
    expect(inputs.filter((path) => !allowed.test(path))).toEqual([]);
    expect(gzipSync(text).length).toBeLessThan(8_192);
  });
});

await describeInChromium('a page of another origin', (chromium) => {
  let pages: Server;
  let pagePort: number;
  let pod: Pod;
  /** The proxy between the page and the pod. */
  let line: ChaosProxy;
  let browser: Browser;

  beforeAll(async () => {
    const { text } = await bundle();
    pages = createServer((req, res) => {
      const script = req.url === '/sdk.js';
      res.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html' });
      res.end(script ? text : '<!doctype html><script src="/sdk.js"></script><script>noted = []</script>');
    });
    pagePort = await listenOnFreePort(pages);
    [pod, browser] = await Promise.all([
      startPod({ ...POD_ENV, PARLEY_CORS_ORIGINS: `http://127.0.0.1:${pagePort}` }),
      launchChromium(chromium),
    ]);
    line = await createChaosProxy({ targetPort: pod.port });
  });
  afterAll(async () => {
    await browser?.close();
    await line?.close();
    await pod?.stop();
    pages?.close();
  });

  async function openPage(host = '127.0.0.1'): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`http://${host}:${pagePort}/`);
    return page;
  }

  async function asked() {
    const userId = newUser();
    const question = colourQuestion({ userId, streamRequestId: `turn-${userId}` });
    const ask = () => serviceAt(pod.url).start(question);
    const access = { baseUrl: `http://127.0.0.1:${line.port}`, token: await tokenOf(userId) };
    return { userId, ask, access, streamRequestId: question.streamRequestId, ...(await ask()) };
  }

  it('finds its questions in the inbox and answers them', async () => {
    const { elicitation, outcome, access } = await asked();
    const page = await openPage();
    const answered = await page.evaluate(async (options) => {
      const client = parley.createClient(options);
      for await (const item of client.inbox()) {
        if (item.type !== 'inbox-snapshot') continue;
        const id = item.elicitations[0]?.elicitationId ?? '';
        return client.answer(id, { action: 'accept', content: { colour: 'blue' } });
      }
      return undefined;
    }, access);
    expect(answered).toMatchObject({ elicitationId: elicitation.elicitationId, status: 'accepted' });
    expect(await outcome).toMatchObject({ status: 'accepted', content: { colour: 'blue' } });
    await page.close();
  });

  it('follows a stream over reconnects', async () => {
    const { ask, access, streamRequestId } = await asked();
    const page = await openPage();
    const notes = () => page.evaluate(() => noted);
    await page.evaluate(
      ([options, id]) => {
        const client = parley.createClient({ ...options, retry: { firstDelayMs: 10 } });
        void (async () => {
          for await (const item of client.events(id))
            noted.push(`${item.type} ${'id' in item ? item.id : ''}`);
        })();
      },
      [access, streamRequestId] as const,
    );
    await waitUntil(async () => (await notes()).length === 1, { what: 'the first event' });
    line.reset();
    await ask();
    await waitUntil(async () => (await notes()).length === 2, { what: 'the second event' });
    expect(await notes()).toEqual([
      expect.stringMatching(/^elicitation-request \d+-1\d{6}$/),
      expect.stringMatching(/^elicitation-request \d+-2\d{6}$/),
    ]);
    await page.close();
  });

  it('gets typed errors', async () => {
    const { elicitation, access } = await asked();
    const page = await openPage();
    const error = await page.evaluate(
      async ([options, id]) => {
        const content = { colour: 'green' };
        const answering = parley.createClient(options).answer(id, { action: 'accept', content });
        const refused = await answering.catch((thrown: ParleyClientError) => thrown);
        if (!parley.isParleyClientError(refused)) return undefined;
        return { code: refused.code, status: refused.status, errors: refused.problem?.errors };
      },
      [access, elicitation.elicitationId] as const,
    );
    expect(error).toEqual({
      code: 'invalid_answer',
      status: 422,
      errors: [{ path: 'colour', message: expect.any(String) }],
    });
    await page.close();
  });

  it('may name its server relative to itself', async () => {
    const page = await openPage();
    const asked = await page.evaluate(async () => {
      const urls: string[] = [];
      const fetch = async (input: unknown) => {
        urls.push(String(input));
        return Response.json({ elicitations: [] });
      };
      await parley.createClient({ baseUrl: '/below', token: 'x', fetch }).list().page();
      return urls;
    });
    expect(asked).toEqual([`http://127.0.0.1:${pagePort}/below/v1/elicitations`]);
    await page.close();
  });

  it('is refused when its origin is not listed', async () => {
    const { elicitation, access } = await asked();
    const page = await openPage('localhost');
    const code = await page.evaluate(
      async ([options, id]) => {
        const client = parley.createClient({ ...options, retry: { giveUpMs: 0 } });
        return client.get(id).catch((error: ParleyClientError) => error.code);
      },
      [access, elicitation.elicitationId] as const,
    );
    expect(code).toBe('unavailable');
    await page.close();
  });
});
