import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { ENGLISH } from '../../../clients/widget/src/strings/en.ts';
import type { SettledQuestion } from '../../../clients/widget/src/strings/strings.ts';
import { newUser } from '../../harness/sdk/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Site, WithPerson } from '../../harness/widget/site.ts';
import { button, cardIn, part, reads, spoken } from '../../harness/widget/site-card.ts';
import { looksSound } from '../../harness/widget/site-look.ts';
import { isAnswerTo, isLook } from '../../harness/widget/site-pages.ts';

/** Events of the cards that the page below received. */
declare const settled: { elicitationId: string; status: string; here: boolean }[];
declare const tell: (elicitation: object) => void;
declare const show: (card: object) => void;

const TRIP = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2, maxLength: 40, default: 'Ada' },
    seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 9, default: 1 },
    class: {
      type: 'string',
      title: 'Class',
      oneOf: [
        { const: '1', title: 'First' },
        { const: '2', title: 'Second' },
      ],
    },
  },
  required: ['name', 'class'],
};
/** How a card says that it ended. */
const ended = (status: SettledQuestion['status'], here = true) =>
  ENGLISH.ended({ status, mode: 'form', here, reason: undefined });

export const TRIP_QUESTION = {
  title: 'Which trip?',
  message: 'I found three trains.',
  requestedSchema: TRIP,
  context: { trigger: 'agent', agent: 'Travel planner' },
};

/**
 * Every state of a form question, each reached by what people, agents and networks do. How each state looks is proven in
 * the gallery (look.test.ts), which shows them all.
 */
export function formStates(site: () => Site, withPerson: WithPerson): void {
  it('appears, is filled in, sent and accepted [MCP25-05 MCP25-46 MCP26-05 MCP26-34 ACP-04]', () =>
    withPerson(async (ada) => {
      const { id, outcome } = await ada.ask(TRIP_QUESTION);
      const load = site().pages.hold(isLook);
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'loading');
      load();
      const card = await cardIn(page, 'pending');
      await looksSound(page);
      expect(await card.innerText()).toMatch(/Which trip\?\s+Asked by Travel planner/u);
      expect(await page.getByLabel('Name').inputValue()).toBe('Ada');
      await page.getByLabel('Name').fill('Grace');
      await page.getByRole('radio', { name: 'Second' }).check();
      const send = site().pages.hold(isAnswerTo(id));
      // By what makes an answer one: kept back for long it is sent again.
      const answers = new Set<string>();
      page.on('request', (call) => {
        if (isAnswerTo(id)(call.method(), new URL(call.url()).pathname))
          answers.add(call.postDataJSON().responseId);
      });
      await button(page, 'Send').click();
      await cardIn(page, 'sending');
      expect(await page.getByLabel('Name').inputValue()).toBe('Grace');
      // A second press while it is on its way is not a second answer.
      await part(page, 'primary').click({ force: true });
      send();
      // What was answered stays, with the names of fields and choices.
      await reads(await cardIn(page, 'accepted'), /Name: Grace\s+Seats: 1\s+Class: Second/u);
      const content = { name: 'Grace', seats: 1, class: '2' };
      expect(await outcome).toMatchObject({ status: 'accepted', content });
      expect([...answers]).toEqual([expect.any(String)]);
      expect(await page.evaluate(() => settled)).toEqual([
        { elicitationId: id, status: 'accepted', here: true },
      ]);
      await page.reload();
      await reads(await cardIn(page, 'accepted'), 'Name: Grace');
    }));

  it('asks a single yes or no with a button for each, and can still be dismissed', () =>
    withPerson(async (ada) => {
      const properties = { go: { type: 'boolean', title: 'Shall I go on?' } };
      const asking = { title: 'Go on', message: 'All tests passed.' };
      const requestedSchema = { type: 'object', properties, required: ['go'] };
      const asked = await Promise.all([0, 1, 2].map(() => ada.ask({ ...asking, requestedSchema })));
      const page = await ada.open();
      for (const [at, name] of ['Yes', 'No', 'Not now'].entries()) {
        await page.evaluate((elicitationId) => show({ elicitationId }), asked[at]?.id);
        const card = await cardIn(page, 'pending');
        await reads(card, 'Shall I go on?');
        expect(await card.getByRole('button').allInnerTexts()).toEqual(['Yes', 'No', 'Not now']);
        expect(await card.getByRole('radio').count()).toBe(0);
        await button(page, name).click();
        const ended = name === 'Not now' ? 'cancelled' : 'accepted';
        // This card's own end: earlier cards may be in the same state.
        await page.locator(`elicitation-card:nth-of-type(${at + 1})[data-state=${ended}]`).waitFor();
      }
      expect(await Promise.all(asked.map(({ outcome }) => outcome))).toMatchObject([
        { status: 'accepted', content: { go: true } },
        { status: 'accepted', content: { go: false } },
        { status: 'cancelled' },
      ]);
    }));

  it('never repeats a sensitive answer', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask({ ...TRIP_QUESTION, sensitive: true });
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await page.getByLabel('Name').fill('Grace');
      await page.getByRole('radio', { name: 'First' }).check();
      await button(page, 'Send').click();
      expect(await (await cardIn(page, 'accepted')).innerText()).not.toContain('Grace');
    }));

  it('can be declined and cancelled [MCP25-04 MCP25-31 MCP25-47 MCP26-04 MCP26-35 ACP-02 ACP-03]', () =>
    withPerson(async (ada) => {
      const [no, later] = [await ada.ask(TRIP_QUESTION), await ada.ask(TRIP_QUESTION)];
      const page = await ada.open({ ids: [no.id] });
      await cardIn(page, 'pending');
      await button(page, 'Decline').click();
      await reads(await cardIn(page, 'declined'), ended('declined'));
      await page.evaluate((elicitationId) => show({ elicitationId }), later.id);
      await cardIn(page, 'pending');
      await button(page, 'Not now').click();
      await reads(await cardIn(page, 'cancelled'), ended('cancelled'));
      expect([await no.outcome, await later.outcome]).toMatchObject([
        { status: 'declined' },
        { status: 'cancelled' },
      ]);
      expect(await page.locator('elicitation-card button').count()).toBe(0);
    }));

  it('shows missing fields before it sends anything [MCP25-64 MCP26-51]', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask(TRIP_QUESTION);
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await page.getByLabel('Name').fill('A');
      await button(page, 'Send').click();
      await page
        .getByText(ENGLISH.fault({ rule: 'minLength', limit: 2 }))
        .first()
        .waitFor();
      expect(await part(page, 'error').count()).toBe(2);
      expect(site().pages.count(isAnswerTo(id))).toBe(0);
    }));

  it('keeps typed values when the server refuses them, and shows the error at the field', () =>
    withPerson(async (ada) => {
      const { id, outcome } = await ada.ask(TRIP_QUESTION);
      const asked = await site().service.get(id);
      // A chat that passes on questions without their bounds, as a relay may that does not know them.
      const { serverTime: _, ...relayed } = asked;
      const properties = {
        name: { type: 'string', title: 'Name' },
        seats: { type: 'integer', title: 'Seats' },
        class: { type: 'string', title: 'Class' },
      };
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await page.evaluate((elicitation) => tell(elicitation), {
        ...relayed,
        requestedSchema: { type: 'object', properties },
      });
      await page.getByRole('textbox', { name: 'Class' }).waitFor();
      await page.getByLabel('Name').fill('Grace');
      await page.getByLabel('Seats').fill('12');
      await page.getByLabel('Class').fill('2');
      await button(page, 'Send').click();
      await cardIn(page, 'refused');
      const seats = page.getByLabel('Seats');
      expect(await seats.getAttribute('aria-invalid')).toBe('true');
      expect(await part(page, 'error').allInnerTexts()).toEqual([
        expect.stringMatching(/9 or less|at most 9/u),
      ]);
      expect(await page.getByLabel('Name').inputValue()).toBe('Grace');
      expect(await seats.inputValue()).toBe('12');
      await seats.fill('3');
      await button(page, 'Send').click();
      await cardIn(page, 'accepted');
      expect(await outcome).toMatchObject({ content: { name: 'Grace', seats: 3, class: '2' } });
    }));

  it('is withdrawn, and shows the reason', () =>
    withPerson(async (ada) => {
      const page = await ada.open();
      for (const reason of ['run_stopped', 'superseded', 'other_reason']) {
        const words = ENGLISH.ended({ status: 'withdrawn', mode: 'form', here: true, reason });
        const { id } = await ada.ask(TRIP_QUESTION);
        await page.evaluate((elicitationId) => show({ elicitationId }), id);
        await cardIn(page, 'pending');
        await site().service.withdraw(id, reason);
        await reads(spoken(page).last(), words);
        await reads(part(page, 'status').last(), words);
      }
      expect(await page.locator('elicitation-card[data-state=withdrawn]').count()).toBe(3);
    }));

  it('is answered in another tab', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask(TRIP_QUESTION);
      const [here, there] = [await ada.open({ ids: [id] }), await ada.open({ ids: [id] })];
      for (const tab of [here, there]) await cardIn(tab, 'pending');
      await there.getByLabel('Name').fill('Half an answ');
      await here.getByRole('radio', { name: 'First' }).check();
      await button(here, 'Send').click();
      const card = await cardIn(there, 'elsewhere');
      await cardIn(here, 'accepted');
      expect(await card.innerText()).toContain(ended('accepted', false));
      await reads(card, 'Class: First');
      expect(await there.locator('elicitation-card').getAttribute('data-status')).toBe('accepted');
      await reads(spoken(there), ended('accepted', false));
      expect(await there.evaluate(() => settled.map(({ here }) => here))).toEqual([false]);
    }));

  it('goes offline and back: typed values stay, and the answer is sent once', () =>
    withPerson(async (ada) => {
      const { id, outcome } = await ada.ask(TRIP_QUESTION);
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await page.getByLabel('Name').fill('Grace');
      await page.getByRole('radio', { name: 'First' }).check();
      await ada.context.setOffline(true);
      await cardIn(page, 'offline');
      await reads(spoken(page), ENGLISH.offline);
      await button(page, 'Send').click();
      // It tries for a while, and then waits with the answer in hand.
      await button(page, 'Try again').waitFor();
      expect(await page.getByLabel('Name').inputValue()).toBe('Grace');
      await ada.context.setOffline(false);
      await cardIn(page, 'accepted');
      expect(await outcome).toMatchObject({ content: { name: 'Grace', seats: 1, class: '1' } });
      expect(site().pages.count(isAnswerTo(id))).toBe(1);
    }));

  it('sends the last decision when it is back: a decline, or an edited answer', () =>
    withPerson(async (ada) => {
      const [declined, edited] = [await ada.ask(TRIP_QUESTION), await ada.ask(TRIP_QUESTION)];
      const page = await ada.open({ ids: [declined.id, edited.id] });
      const [first, second] = [
        page.locator('elicitation-card').first(),
        page.locator('elicitation-card').last(),
      ];
      const press = (card: Locator, name: string) => card.getByRole('button', { name, exact: true }).click();
      for (const card of [first, second]) {
        await card.getByLabel('Name').fill('Grace');
        await card.getByRole('radio', { name: 'First' }).check();
      }
      await ada.context.setOffline(true);
      await press(first, 'Decline');
      await press(second, 'Send');
      for (const card of [first, second]) await card.getByRole('button', { name: 'Try again' }).waitFor();
      await press(first, 'Try again');
      await second.getByLabel('Name').fill('Ada');
      await press(second, 'Send');
      await ada.context.setOffline(false);
      await cardIn(page, 'declined');
      await cardIn(page, 'accepted');
      expect(await declined.outcome).toMatchObject({ status: 'declined' });
      expect(await edited.outcome).toMatchObject({ content: { name: 'Ada' } });
    }));

  it('recognises its own answer when the reply was lost', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask(TRIP_QUESTION);
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await page.getByRole('radio', { name: 'First' }).check();
      site().pages.loseReplyTo(isAnswerTo(id));
      await button(page, 'Send').click();
      const card = await cardIn(page, 'accepted');
      expect(await card.innerText()).toContain(ended('accepted'));
      await waitUntil(() => page.evaluate(() => settled.length === 1), { what: 'the end to be reported' });
      expect(await page.evaluate(() => settled[0]?.here)).toBe(true);
    }));

  it("is gone when it is unknown, or another person's", () =>
    withPerson(async (ada) => {
      const own = await ada.ask(TRIP_QUESTION);
      const { elicitation } = await site().service.start({
        userId: newUser(),
        mode: 'form',
        message: 'Not for Ada',
        requestedSchema: { type: 'object', properties: {} },
      });
      const page = await ada.open({ ids: [`${own.id.slice(0, -4)}0000`, elicitation.elicitationId] });
      const gone = page.locator('elicitation-card[data-state=gone] [part=card]');
      // Before that, the first one would also be the last.
      await expect.poll(() => gone.count()).toBe(2);
      for (const card of [gone.first(), gone.last()]) {
        await reads(card, ENGLISH.gone);
      }
    }));
}
