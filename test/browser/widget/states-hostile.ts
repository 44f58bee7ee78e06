import { expect, it } from 'vitest';
import type { Site, WithPerson } from '../../harness/widget/site.ts';
import { button, cardIn, part, reads } from '../../harness/widget/site-card.ts';
import { looksSound, NARROW } from '../../harness/widget/site-look.ts';

declare const show: (card: object) => void;

const MARKUP =
  '<script>fetch("https://evil.example/s")</script> <img src="https://evil.example/x" onerror="alert(1)"> ' +
  '<a href="https://evil.example/">here</a> [Click](javascript:alert(2)) https://evil.example/now {{3}}';
const OVERRIDE = '\u202egnp.exe';

/** What would be a link, a picture or a script if it came out of a text. */
const ALIVE =
  'a, area, img, picture, video, audio, iframe, object, embed, script, link, base, meta, svg image';

/** What an asker may try: shown harmless, and such that it can be read. */
export function hostileInput(site: () => Site, withPerson: WithPerson): void {
  it('shows mark-up, links and scripts as plain text [MCP25-61 MCP26-48 ACP-47]', () =>
    withPerson(async (ada) => {
      const { id, outcome } = await ada.ask({
        title: MARKUP.slice(0, 150),
        message: MARKUP,
        description: MARKUP,
        context: { trigger: 'agent', agent: MARKUP.slice(0, 60), toolName: '<b>Bank</b>' },
        requestedSchema: {
          type: 'object',
          title: MARKUP,
          description: MARKUP,
          properties: {
            '<i>key</i>': {
              type: 'string',
              title: MARKUP,
              description: MARKUP,
              default: '<script>alert(5)</script>',
            },
            pick: {
              type: 'string',
              title: 'Pick',
              oneOf: [
                { const: '"><script>alert(6)</script>', title: '<i>one</i>' },
                { const: '2', title: MARKUP },
              ],
            },
          },
        },
      });
      const page = await ada.open({ ids: [id] });
      const card = await cardIn(page, 'pending');
      expect(await part(page, 'message').innerText()).toBe(MARKUP);
      const text = await card.innerText();
      // The title, the message, the description, and those of the form, of a field, of a choice.
      expect(text.split(MARKUP).length - 1).toBe(7);
      expect(text).toContain('<b>Bank</b>');
      expect(await card.locator(ALIVE).count()).toBe(0);
      await page.getByRole('radio', { name: '<i>one</i>' }).check();
      await button(page, 'Send').click();
      const settled = await cardIn(page, 'accepted');
      expect(await outcome).toMatchObject({
        content: { '<i>key</i>': '<script>alert(5)</script>', pick: '"><script>alert(6)</script>' },
      });
      expect(await settled.locator(ALIVE).count()).toBe(0);
    }));

  it('shows directional overrides that a chat passes by their code points', () =>
    withPerson(async (ada) => {
      const requestedSchema = {
        type: 'object',
        properties: { file: { type: 'string', title: `A ${OVERRIDE}` } },
      };
      const message = `Open ${OVERRIDE}`;
      for (const more of [{ message }, { title: message }, { description: message }, { requestedSchema }]) {
        await expect(ada.ask(more)).rejects.toMatchObject({ status: 400 });
      }
      const page = await ada.open();
      const elicitation = {
        elicitationId: 'el_1',
        mode: 'form',
        status: 'pending',
        message,
        requestedSchema,
      };
      await page.evaluate((card) => show(card), { server: undefined, elicitation });
      const card = await cardIn(page, 'pending');
      await reads(part(page, 'message'), 'Open [U+202E]gnp.exe');
      expect(await card.innerText()).toContain('A [U+202E]gnp.exe');
      expect(await card.innerText()).not.toContain('\u202e');
    }));

  it('keeps long texts and long forms readable, and the buttons in view', () =>
    withPerson(async (ada) => {
      const properties = Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [`field${at}`, { type: 'string', title: `Field ${at}` }]),
      );
      const long = await ada.ask({
        title: 'Long',
        message: 'Nobody reads it all. '.repeat(500).slice(0, 10_000),
        requestedSchema: { type: 'object', properties },
      });
      const word = await ada.ask({
        title: 'W'.repeat(200),
        message: 'Ö'.repeat(2_000),
        requestedSchema: { type: 'object', properties: { ok: { type: 'boolean', title: 'Ö'.repeat(200) } } },
      });
      const page = await ada.open({ ids: [long.id, word.id] });
      await page.locator('elicitation-card[data-state=pending]').nth(1).waitFor();
      await looksSound(page);
      for (const width of [NARROW, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(() => scrollTo(0, 0));
        const message = part(page, 'message').first();
        const [shown, all] = await message.evaluate((box) => [box.clientHeight, box.scrollHeight]);
        expect(shown).toBeLessThan(all ?? 0);
        for (const name of ['Send', 'Decline', 'Not now']) {
          const box = await button(page, name).first().boundingBox();
          // On a phone they would cover the fields.
          if (width === NARROW) expect(box?.y).toBeGreaterThan(800);
          else expect(box && box.y + box.height).toBeLessThanOrEqual(800);
        }
      }
      await page.getByLabel('Field 49').fill('the last one');
      await button(page, 'Send').first().click();
      await page.locator('elicitation-card[data-state=accepted]').waitFor();
      expect(await long.outcome).toMatchObject({ content: { field49: 'the last one' } });
      expect((await site().service.get(word.id)).status).toBe('pending');
    }));
}
