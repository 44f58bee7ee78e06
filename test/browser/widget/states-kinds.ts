import type { FormField } from '@parley/core/domain/forms/value';
import { createElicitor, createParleyHandler, pagesOf } from '@parley/sdk/elicit';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { caseOf, KINDS, type KindCase } from '../../harness/cli/kinds.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Person, Site, WithPerson } from '../../harness/widget/site.ts';
import { openedBy } from './states-url.ts';

/** The table of kinds that a terminal and an MCP client answer, too: test/harness/cli/kinds.ts. */
export function everyKind(site: () => Site, withPerson: WithPerson): void {
  it('answers every kind of the table, a wrong input first, on one page', () =>
    withPerson(async (ada) => {
      const client = site().service;
      const elicitor = createElicitor({
        handlers: [createParleyHandler({ client, userId: ada.userId })],
        timeoutSeconds: 600,
      });
      // The page of the table is on another machine.
      const here = { url: site().bank.newPage().url };
      const asking = KINDS.map(({ ask }) => elicitor.ask(ask.kind === 'url' ? { ...ask, ...here } : ask));
      const open = await waitUntil(
        async () => {
          const { elicitations } = await client.list({ userId: ada.userId, limit: 50 }).page();
          return elicitations.length === KINDS.length && elicitations;
        },
        { what: 'all questions' },
      );
      const page = await ada.open({ ids: open.map(({ elicitationId }) => elicitationId) });
      for (const { elicitationId, message } of open) {
        const card = page.locator(`elicitation-card[elicitation-id=${elicitationId}]`);
        await card.locator('[part=card]').waitFor();
        await answerInCard(ada, card, caseOf(message));
        await page
          .locator(`elicitation-card[elicitation-id=${elicitationId}][data-state=accepted]`)
          .waitFor();
      }
      expect(await Promise.all(asking)).toEqual(
        KINDS.map(({ value }) => ({ status: 'accepted', value, handler: 'parley' })),
      );
    }));
}

async function answerInCard(person: Person, card: Locator, one: KindCase): Promise<void> {
  const [form] = pagesOf(one.ask) ?? [];
  if (form === undefined) {
    await card.locator('a').scrollIntoViewIfNeeded();
    await card.locator('a[href]').waitFor();
    await openedBy(person.context, () => card.locator('a[href]').click());
    return;
  }
  const fields = Object.entries(form.schema.properties);
  const [sole] = fields.length === 1 ? fields : [];
  if (sole !== undefined && sole[1].type === 'boolean') {
    const name = one.content?.[sole[0]] === true ? 'Yes' : 'No';
    await card.getByRole('button', { name, exact: true }).click();
    return;
  }
  const send = card.getByRole('button', { name: 'Send', exact: true });
  if (one.wrong !== undefined) {
    const typed = one.wrong.keys.find((keys) => 'type' in keys);
    // A browser's own date field takes no date that does not exist; an empty one is wrong as well.
    if (typed !== undefined && 'type' in typed && one.ask.kind !== 'date')
      await card.getByLabel(labelOf(fields[0])).fill(typed.type);
    await send.click();
    await card.locator('[part=error]').first().waitFor();
  }
  for (const [name, field] of fields) await fillIn(card, [name, field], one.content?.[name]);
  await send.click();
}

type NamedField = readonly [name: string, field: FormField];

/** The label of a control, with or without a note in parentheses. */
function labelOf([name, { title }]: NamedField = ['', { type: 'string' }]): RegExp {
  return new RegExp(`^\\s*${title ?? name}(\\s+\\(.*\\))?\\s*$`, 'u');
}

async function fillIn(card: Locator, named: NamedField, value: unknown): Promise<void> {
  if (value === undefined) return;
  const [, field] = named;
  const chosen = titlesOf(field);
  if (chosen === undefined) return card.getByLabel(labelOf(named)).fill(String(value));
  for (const one of [value].flat())
    await card.getByLabel(chosen.get(String(one)) ?? String(one), { exact: true }).check();
}

/** What a person reads of each choice; undefined for a field that is no choice. */
function titlesOf(field: FormField): ReadonlyMap<string, string> | undefined {
  const choices =
    'oneOf' in field
      ? field.oneOf
      : 'items' in field && 'anyOf' in field.items
        ? field.items.anyOf
        : undefined;
  return choices && new Map(choices.map((choice) => [choice.const, choice.title]));
}
