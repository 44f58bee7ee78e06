import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { ElementHandle, Locator, Page } from 'playwright-core';
import { listenOnFreePort } from '../../harness/free-port.ts';
import type { FormHost } from './form-host.ts';

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Form</title>
<meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark }</style>
<main><h1>Chat</h1><form-host></form-host></main><script src="/form.js"></script>`;

/** Serves a page with one form, in the colours that the browser prefers, under a strict policy. */
export async function startFormSite(): Promise<Server> {
  const script = await formBundle();
  const server = createServer((req, res) => {
    const isScript = req.url === '/form.js';
    res.setHeader(
      'content-security-policy',
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'",
    );
    res.setHeader('content-type', `${isScript ? 'text/javascript' : 'text/html'}; charset=utf-8`);
    res.end(isScript ? script : PAGE);
  });
  await listenOnFreePort(server);
  return server;
}

export function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The bundle of the host and its dependencies, built as the card is. */
async function formBundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./form-host.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    conditions: ['parley-source', 'module'],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** A new form in place of the page's: to load the page again would cost as much as most of what a test does with it. */
export function newFormHost(page: Page): Promise<ElementHandle<FormHost>> {
  return page.evaluateHandle(() => {
    for (const name of ['dir', 'style']) document.documentElement.removeAttribute(name);
    const host = document.createElement('form-host') as FormHost;
    document.querySelector('form-host')?.replaceWith(host);
    return host;
  });
}

export type Form = ReturnType<typeof createForm>;

/** Reads and operates the form as a person would. */
export function createForm(page: Page, host: ElementHandle<FormHost>) {
  const label = (name: string) => new RegExp(`^\\s*${name}(\\s+\\(.*\\))?\\s*$`, 'u');
  const focused = () =>
    host.evaluate((element) => {
      const at = element.shadowRoot?.activeElement;
      const named =
        at instanceof HTMLInputElement ||
        at instanceof HTMLTextAreaElement ||
        at instanceof HTMLSelectElement;
      const text = (named ? at.labels?.[0]?.textContent : at?.textContent) ?? '';
      return text.trim().replace(/\s*\([^()]*\)$/u, '');
    });
  return {
    host,
    focused,
    field: (name: string) => page.getByLabel(label(name)).and(page.locator('input, textarea, select')),
    group: (name: string) =>
      page.getByRole('group', { name: label(name) }).or(page.getByRole('radiogroup', { name: label(name) })),
    press: () => page.getByRole('button', { name: 'Send' }).click(),
    sent: () => host.evaluate((element) => element.sent),
    /** Presses Tab until `name` has the focus; dates have several stops. */
    async tabTo(name: string): Promise<void> {
      for (let stop = 0; stop < 12; stop += 1) {
        await page.keyboard.press('Tab');
        if ((await focused()) === name) return;
      }
      throw new Error(`Tab does not lead to ${name}`);
    },
    /** The description of a control, one part on each line, by ids in its own tree. */
    explained: (locator: Locator) =>
      locator.evaluate((control) => {
        const root = control.getRootNode() as ShadowRoot;
        const ids = control.getAttribute('aria-describedby')?.split(' ') ?? [];
        return ids.map((id) => root.getElementById(id)?.textContent ?? `(no ${id})`).join('\n');
      }),
    /** Its fields as a person reads them. */
    read: () =>
      host.evaluate((element) =>
        [...(element.shadowRoot?.querySelectorAll('.field') ?? [])].map((field) => {
          const texts = (selector: string) =>
            [...field.querySelectorAll(selector)].map((one) => one.textContent ?? '');
          const entry = field.querySelector<HTMLInputElement>('.entry:not(select)');
          return {
            label: texts('.name bdi, .choice bdi')[0],
            isRequired: field.querySelector('.name .quiet') !== null,
            choices: texts('option ~ option, .choices .choice bdi').filter((text) => text !== 'No answer'),
            initial:
              entry === null
                ? texts('option:checked, .choice:has(:checked) bdi').filter(
                    (text) => text !== 'No answer' && text !== 'Please choose',
                  )
                : [entry.value].filter((text) => text !== ''),
            hasLines: field.querySelector('textarea') !== null,
            hint: texts('.help, .hint').join('\n'),
          };
        }),
      ),
    /** What its words made of the form, and whether it has its room: nothing beyond the page, none to spare. */
    look: () =>
      host.evaluate((element) => {
        const root = element.shadowRoot ?? element;
        const { scrollWidth, clientWidth } = document.documentElement;
        return {
          ofAnother: root.querySelectorAll('a, img, script, b, iframe').length,
          spare: clientWidth - scrollWidth,
          text: root.querySelector('legend, label')?.textContent ?? '',
          outside: [...root.querySelectorAll('*')].filter((part) => {
            const { left, right } = part.getBoundingClientRect();
            return left < -1 || right > clientWidth + 1;
          }).length,
        };
      }),
  };
}
