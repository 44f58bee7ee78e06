import type { Server } from 'node:http';
import { plainBreaks } from '@parley/core/domain/text';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { ODD_FORM, ODD_NAMES, oddField, seenOf } from '../../harness/forms/odd-forms.ts';
import { describeInChromium, openPage } from '../../harness/in-chromium.ts';
import { axe, NARROW, RULES_OF_LOOKS } from '../../harness/widget/site-look.ts';
import { createForm, type Form, newFormHost, originOf, startFormSite } from './form-page.ts';
import { BOUNDED, EVERY_KIND, HOSTILE, PRESET } from './form-schemas.ts';

await describeInChromium('the form of a question', (chromium) => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    server = await startFormSite();
    browser = await launchChromium(chromium);
    page = await openPage(browser, { locale: 'en-US', timezoneId: 'Europe/Berlin' });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(originOf(server));
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  interface Shown {
    readonly schema: unknown;
    readonly sensitive?: boolean;
    readonly colorScheme?: 'light' | 'dark';
    readonly isNarrow?: boolean;
  }

  async function withForm(
    { schema, sensitive: isSensitive = false, colorScheme = 'light', isNarrow = false }: Shown,
    use: (form: Form) => Promise<void>,
  ): Promise<void> {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(isNarrow ? { width: NARROW, height: 640 } : { width: 1280, height: 720 });
    const form = createForm(page, await newFormHost(page));
    await form.host.evaluate((host, [asked, more]) => host.ask(asked, more), [
      schema,
      { isSensitive },
    ] as const);
    await use(form);
    expect(faults.splice(0)).toEqual([]);
  }

  it('accepts an answer of every kind by keyboard alone', () =>
    withForm({ schema: EVERY_KIND }, async ({ tabTo, sent }) => {
      const { keyboard } = page;
      const type = async (label: string, text: string) => {
        await tabTo(label);
        await keyboard.type(text);
      };
      await type('Name', 'Ada "Lovelace" 🙂');
      await type('Story', 'first');
      await keyboard.press('Enter');
      await keyboard.type('second');
      await type('Mail', 'ada@example.com');
      await type('Site', 'https://example.com/a?b=c');
      await type('Day', '03012026');
      await type('Moment', '030120260930AM');
      await type('Price', '-1.50');
      await type('Count', '7');
      await tabTo('Newsletter');
      await keyboard.press('Space');
      await tabTo('Yes');
      await keyboard.press('ArrowDown');
      await tabTo('Small size');
      await keyboard.press('ArrowDown');
      await type('Country', 'c7');
      await tabTo('Red');
      await keyboard.press('Space');
      await tabTo('Blue');
      await keyboard.press('Space');
      await tabTo('Send');
      await keyboard.press('Enter');
      expect(await sent()).toEqual([
        {
          name: 'Ada "Lovelace" 🙂',
          story: 'first\nsecond',
          mail: 'ada@example.com',
          site: 'https://example.com/a?b=c',
          day: '2026-03-01',
          moment: '2026-03-01T09:30:00+01:00',
          price: -1.5,
          count: 7,
          news: true,
          terms: false,
          size: 'm',
          country: 'c7',
          colours: ['red', 'blue'],
        },
      ]);
    }));

  it('states the time zone of a time, and the number of choices', () =>
    withForm({ schema: EVERY_KIND }, async ({ field, group, explained }) => {
      expect(await explained(field('Moment'))).toContain('Europe/Berlin');
      expect(await explained(group('Colours'))).toMatch(/1 to 2/u);
      expect(await explained(field('Name'))).toContain('What you are called.');
      expect(await group('Terms').getByRole('radio', { checked: true }).count()).toBe(0);
    }));

  it('shows every odd field as all other surfaces do', () =>
    withForm({ schema: ODD_FORM }, async ({ read }) => {
      const seen = await read();
      expect(seen).toHaveLength(ODD_NAMES.length);
      for (const [at, name] of ODD_NAMES.entries()) {
        const { field, hint } = oddField(name);
        const { description, ...expected } = seenOf(name);
        // Of a yes or no the words are the card's own, and an input of times shows them locally.
        const own =
          field.type === 'boolean' ? ['choices', 'initial'] : field.format === 'date-time' ? ['initial'] : [];
        const initial = expected.initial.map(plainBreaks);
        const others = Object.entries({ ...expected, initial }).filter(([part]) => !own.includes(part));
        expect(seen[at]).toMatchObject(Object.fromEntries(others));
        for (const text of [description, hint]) expect(seen[at]?.hint).toContain(text ?? '');
      }
    }));

  it('starts with the defaults, and sends them unchanged [MCP25-16 MCP26-16 ACP-20]', () =>
    withForm({ schema: PRESET.schema }, async ({ field, press, sent }) => {
      expect(await field('moment').inputValue()).toBe('2026-03-01T10:30');
      expect(await field('news').isChecked()).toBe(true);
      await press();
      await field('name').fill('');
      await press();
      const { name: _, ...others } = PRESET.content;
      expect(await sent()).toEqual([PRESET.content, others]);
    }));

  it('lets an optional choice be cleared', () =>
    withForm({ schema: PRESET.schema }, async ({ field, group, press, sent }) => {
      await group('size').getByLabel('No answer').check();
      await field('country').selectOption('No answer');
      await press();
      const { size: _, country: __, ...others } = PRESET.content;
      expect(await sent()).toEqual([others]);
    }));

  it('shows errors at their fields, focuses the first, and removes each when it is corrected', () =>
    withForm({ schema: BOUNDED }, async ({ field, group, explained, press, focused, sent }) => {
      await press();
      expect(await focused()).toBe('name');
      await field('name').fill('A');
      await field('mail').fill('ada@');
      await field('site').fill('javascript:alert(1)');
      await field('price').fill('1,5');
      await field('count').fill('11');
      await field('late').fill('much too long');
      for (const colour of ['red', 'green', 'blue']) await field(colour).check();
      await press();
      expect(await focused()).toBe('name');
      const errorTexts = {
        name: 'at least 2 characters',
        mail: 'ada@example.com',
        site: 'https://example.com/',
        price: 'such as 1.5',
        count: '10 or less',
        late: 'at most 5 characters',
      };
      for (const [label, text] of Object.entries(errorTexts)) {
        expect(await field(label).getAttribute('aria-invalid'), label).toBe('true');
        expect((await explained(field(label))).split('\n')[0], label).toContain(text);
      }
      expect(await explained(field('late'))).toContain('8 characters too many');
      for (const label of ['terms', 'size', 'colours']) {
        expect((await explained(group(label))).split('\n')[0], label).toMatch(/^Please pick/u);
      }
      expect(await page.locator('[part=error]').count()).toBe(9);
      await field('name').fill('Ada');
      expect(await field('name').getAttribute('aria-invalid')).toBe('false');
      await page.keyboard.press('Enter');
      expect(await focused()).toBe('mail');
      expect(await sent()).toEqual([]);
    }));

  it('never sends a half-typed date as no answer', () =>
    withForm({ schema: EVERY_KIND_OPTIONAL }, async ({ tabTo, press, explained, field, focused, sent }) => {
      await tabTo('Day');
      await page.keyboard.type('03');
      await press();
      expect(await focused()).toBe('Day');
      expect(await explained(field('Day'))).toContain('a date that exists');
      await page.keyboard.type('03012026');
      await press();
      expect(await sent()).toEqual([{ day: '2026-03-01' }]);
    }));

  it('carries nothing over from one question to the next', () =>
    withForm({ schema: EVERY_KIND_OPTIONAL }, async ({ host, tabTo, field, press, focused, sent }) => {
      await field('Newsletter').check();
      await field('Name').fill('Ada');
      await tabTo('Day');
      await page.keyboard.type('03');
      await host.evaluate(
        (element, schema) => element.ask(schema, { elicitationId: 'el_2' }),
        EVERY_KIND_OPTIONAL,
      );
      expect(await focused()).toBe('');
      expect(await field('Newsletter').isChecked()).toBe(false);
      expect(await host.evaluate((element) => element.view.isDirty)).toBe(false);
      await press();
      expect(await sent()).toEqual([{}]);
    }));

  it('is sent with Enter in a single-line field, but not in a multi-line one', () =>
    withForm({ schema: EVERY_KIND_OPTIONAL }, async ({ field, sent }) => {
      await field('Story').fill('first');
      await page.keyboard.press('Enter');
      expect(await sent()).toEqual([]);
      await field('Name').fill('Ada');
      await page.keyboard.press('Enter');
      expect(await sent()).toEqual([{ name: 'Ada', story: 'first\n' }]);
    }));

  it('keeps typed values and the caret', () =>
    withForm({ schema: EVERY_KIND }, async ({ host, field, group, explained, focused }) => {
      await field('Name').fill('Lovelace');
      await page.keyboard.press('Home');
      await host.evaluate((element, schema) => element.ask(structuredClone(schema)), EVERY_KIND);
      await page.keyboard.type('Ada ');
      await field('Newsletter').check();
      await group('Size').getByLabel('Medium size').check();
      await field('Name').focus();
      await host.evaluate((element) => element.hold(true));
      await page.keyboard.type('nobody ');
      await group('Size')
        .getByLabel('Small size')
        .evaluate((radio) => (radio as HTMLElement).click());
      expect(await focused()).toBe('Name');
      await host.evaluate((element) => element.hold(false));
      const refuse = () =>
        host.evaluate((element) =>
          element.view.showErrors([
            { path: 'site', message: 'must be on <b>our</b> host' },
            { path: '', message: 'must be sent again' },
            { path: 'extra', message: 'is not a field of this form' },
          ]),
        );
      await field('Name').blur();
      expect(await refuse()).toEqual(['must be sent again', 'extra: is not a field of this form']);
      expect(await explained(field('Site'))).toContain('must be on <b>our</b> host');
      expect(await focused()).toBe('');
      await field('Name').focus();
      await refuse();
      await expect.poll(focused).toBe('Site');
      expect(await field('Name').inputValue()).toBe('Ada Lovelace');
      expect(await field('Newsletter').isChecked()).toBe(true);
      expect(await group('Size').getByLabel('Medium size').isChecked()).toBe(true);
      expect(await host.evaluate((element) => element.view.isDirty)).toBe(true);
    }));

  it('keeps a sensitive answer from the browser, and allows autofill elsewhere', async () => {
    const readHints = (form: Form, label: string) =>
      form
        .field(label)
        .evaluate((entry) => [entry.getAttribute('autocomplete'), entry.getAttribute('spellcheck')]);
    await withForm({ schema: EVERY_KIND, sensitive: true }, async (form) => {
      for (const label of ['Name', 'Story', 'Mail'])
        expect(await readHints(form, label)).toEqual(['off', 'false']);
    });
    await withForm({ schema: EVERY_KIND }, async (form) => {
      expect(await readHints(form, 'Mail')).toEqual(['email', 'false']);
      expect(await readHints(form, 'Story')).toEqual([null, 'true']);
    });
  });

  it('shows hostile texts safely, completely and within 320 px, in both directions', () =>
    withForm({ schema: HOSTILE, isNarrow: true }, async ({ press, look, field }) => {
      await press();
      for (const dir of ['rtl', 'ltr']) {
        await page.evaluate((value) => {
          document.documentElement.dir = value;
        }, dir);
        const seen = await look();
        expect(seen).toMatchObject({ ofAnother: 0, spare: 0, outside: 0 });
        expect(seen.text).toContain('[U+202E]');
        expect(seen.text).toContain('x'.repeat(9_000));
      }
      expect(await field('constructor').count()).toBe(1);
      expect(await axe(page)).toEqual([]);
    }));

  // Each language and each theme once: neither changes what the other does. The structure is the same in both.
  it.each([
    ['light', 'en', undefined],
    ['dark', 'de', RULES_OF_LOOKS],
  ] as const)('has no axe violations: %s, %s', (colorScheme, lang, rules) =>
    withForm({ schema: EVERY_KIND, colorScheme, isNarrow: true }, async ({ host, press, look }) => {
      await host.evaluate((element, value) => element.speak(value), lang);
      expect(await axe(page, rules)).toEqual([]);
      await press();
      expect(await axe(page, rules)).toEqual([]);
      expect(await look()).toMatchObject({ spare: 0, outside: 0 });
      await page.evaluate(() => {
        document.documentElement.style.fontSize = '200%';
      });
      expect(await look()).toMatchObject({ spare: 0 });
    }),
  );
});

const EVERY_KIND_OPTIONAL = { ...EVERY_KIND, required: [] };
