import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ParleyClientError } from '@parley/sdk';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChaosProxy, createChaosProxy } from '../harness/chaos/proxy.ts';
import { COLOUR_FORM, tokenOf } from '../harness/sdk/setup.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Person, Site, WithPerson } from '../harness/widget/site.ts';

declare const parley: typeof import('@parley/sdk');
/** The notes of a page. */
declare const noted: string[];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COLOUR = { requestedSchema: COLOUR_FORM };

/** The SDK as an app would bundle it, and the sources that went into it. */
export async function bundleSdk() {
  const built = await build({
    absWorkingDir: ROOT,
    entryPoints: ['clients/sdk/src/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['parley-source'],
    metafile: true,
    write: false,
  });
  return { text: built.outputFiles[0]?.text ?? '', inputs: Object.keys(built.metafile.inputs) };
}

/** The SDK in pages of another origin than Parley. */
export function sdkInPages(site: () => Site, withPerson: WithPerson): void {
  /** The proxy between a page and the pods. */
  let line: ChaosProxy;
  beforeAll(async () => {
    await writeFile(join(site().folder, 'sdk.js'), (await bundleSdk()).text);
    line = await createChaosProxy({ targetPort: Number(new URL(site().parley).port) });
  });
  afterAll(() => line?.close());

  const visit = (person: Person): Promise<Page> =>
    person.visit({
      // Without a policy, which would allow the address of the pods alone.
      html: '<!doctype html><script type="module" src="page.js"></script>',
      script: "import * as parley from './sdk.js'; Object.assign(globalThis, { parley, noted: [] });",
    });
  const accessOf = async ({ userId }: Person) => ({ baseUrl: site().parley, token: await tokenOf(userId) });

  it('finds its questions in the inbox, answers them, and gets typed errors', () =>
    withPerson(async (ada) => {
      const { id, outcome } = await ada.ask(COLOUR);
      const page = await visit(ada);
      const error = await page.evaluate(
        async ([options, unfit]) => {
          const content = { colour: 'green' };
          const answering = parley.createClient(options).answer(unfit, { action: 'accept', content });
          const refused = await answering.catch((thrown: ParleyClientError) => thrown);
          if (!parley.isParleyClientError(refused)) return undefined;
          return { code: refused.code, status: refused.status, errors: refused.problem?.errors };
        },
        [await accessOf(ada), id] as const,
      );
      expect(error).toEqual({
        code: 'invalid_answer',
        status: 422,
        errors: [{ path: 'colour', message: expect.any(String) }],
      });
      const answered = await page.evaluate(
        async (options) => {
          const client = parley.createClient(options);
          for await (const item of client.inbox()) {
            if (item.type !== 'inbox-snapshot') continue;
            const open = item.elicitations[0]?.elicitationId ?? '';
            return client.answer(open, { action: 'accept', content: { colour: 'blue' } });
          }
          return undefined;
        },
        await accessOf(ada),
      );
      expect(answered).toMatchObject({ elicitationId: id, status: 'accepted' });
      expect(await outcome).toMatchObject({ status: 'accepted', content: { colour: 'blue' } });
    }));

  it('follows a stream over reconnects', () =>
    withPerson(async (ada) => {
      const streamRequestId = `turn-${ada.userId}`;
      await ada.ask({ ...COLOUR, streamRequestId });
      const page = await visit(ada);
      const notes = () => page.evaluate(() => noted);
      const access = { ...(await accessOf(ada)), baseUrl: `http://127.0.0.1:${line.port}` };
      await page.evaluate(
        ([options, stream]) => {
          const client = parley.createClient({ ...options, retry: { firstDelayMs: 10 } });
          void (async () => {
            for await (const item of client.events(stream))
              noted.push(`${item.type} ${'id' in item ? item.id : ''}`);
          })();
        },
        [access, streamRequestId] as const,
      );
      await waitUntil(async () => (await notes()).length === 1, { what: 'the first event' });
      line.reset();
      await ada.ask({ ...COLOUR, streamRequestId });
      await waitUntil(async () => (await notes()).length === 2, { what: 'the second event' });
      expect(await notes()).toEqual([
        expect.stringMatching(/^elicitation-request \d+-1\d{6}$/),
        expect.stringMatching(/^elicitation-request \d+-2\d{6}$/),
      ]);
    }));

  it('may name its server relative to itself', () =>
    withPerson(async (ada) => {
      const page = await visit(ada);
      const asked = await page.evaluate(async () => {
        const urls: string[] = [];
        const fetch = async (input: unknown) => {
          urls.push(String(input));
          return Response.json({ elicitations: [] });
        };
        await parley.createClient({ baseUrl: '/below', token: 'x', fetch }).list().page();
        return urls;
      });
      expect(asked).toEqual([`${site().pages.url}/below/v1/elicitations`]);
    }));

  it('is refused when its origin is not listed', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask(COLOUR);
      const page = await visit(ada);
      await page.goto(page.url().replace('127.0.0.1', 'localhost'));
      const code = await page.evaluate(
        async ([options, asked]) => {
          const client = parley.createClient({ ...options, retry: { giveUpMs: 0 } });
          return client.get(asked).catch((error: ParleyClientError) => error.code);
        },
        [await accessOf(ada), id] as const,
      );
      expect(code).toBe('unavailable');
      await page.goto('about:blank');
      // The browser may say later that it let no call through.
      ada.faults.length = 0;
    }));
}
