import { isElicitation } from '../src/elicitation.ts';
import type { ElicitationCard } from '../src/index.ts';
import '../src/index.ts';
import '../src/approvals.ts';
import { APPROVALS, approvalCardOf } from './approvals.ts';
import { simulateServer } from './simulated-server.ts';
import { type GalleryCard, GROUPS } from './states.ts';

const query = new URLSearchParams(location.search);

/** Refused forms take the focus and so scroll the page. After these presses, the gallery scrolls back to its top. */
const presses: Promise<void>[] = [];

/** The switches in the address: `?theme=dark&lang=de&dir=rtl`. Without one, the setting of the page or the system applies. */
const SWITCHES = { theme: ['light', 'dark'], lang: ['en', 'de'], dir: ['ltr', 'rtl'] } as const;

function build(): void {
  const { documentElement: root } = document;
  const theme = query.get('theme');
  if (theme !== null) root.dataset.theme = theme;
  root.lang = query.get('lang') ?? 'en';
  root.dir = query.get('dir') ?? 'ltr';
  place('switches').append(
    ...Object.entries(SWITCHES).flatMap(([name, values]) => values.map((value) => switchTo(name, value))),
  );
  for (const { name, cards } of GROUPS) addGroup(name, cards, cardOf);
  for (const { name, cards } of APPROVALS) addGroup(name, cards, approvalCardOf);
}

function addGroup<Shown extends { readonly label: string }>(
  name: string,
  cards: readonly Shown[],
  createCard: (shown: Shown, id: string) => HTMLElement,
): void {
  const id = name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  const section = make('section', { id });
  const grid = make('div', { className: 'cards' });
  section.append(make('h2', { textContent: name }), grid);
  place('groups').append(section);
  place('contents').append(make('a', { href: `#${id}`, textContent: name }));
  for (const [at, shown] of cards.entries()) {
    const figure = make('figure', {});
    figure.append(make('h3', { textContent: shown.label }), createCard(shown, `${id}_${at}`));
    grid.append(figure);
  }
}

function cardOf(shown: GalleryCard, elicitationId: string): ElicitationCard {
  const card = document.createElement('elicitation-card');
  card.headingLevel = 4;
  if (shown.className !== undefined) card.className = shown.className;
  const elicitation = {
    elicitationId,
    status: 'pending',
    serverTime: new Date().toISOString(),
    ...shown.elicitation,
  };
  if (!isElicitation(elicitation)) return card;
  card.server = simulateServer(elicitation, shown.play ?? 'takes');
  card.elicitation = elicitation;
  if (shown.press !== undefined) presses.push(press(card, shown.press));
  return card;
}

async function press(card: ElicitationCard, part: string): Promise<void> {
  await card.updateComplete;
  card.shadowRoot?.querySelector<HTMLElement>(`[part=${part}]`)?.click();
}

function switchTo(name: string, value: string): HTMLAnchorElement {
  const target = new URLSearchParams(query);
  target.set(name, value);
  const link = make('a', { href: `?${target}`, textContent: `${name} ${value}` });
  if (query.get(name) === value) link.setAttribute('aria-current', 'true');
  return link;
}

function place(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}`);
  return found;
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), properties);
}

build();
void Promise.all(presses).then(() => setTimeout(() => scrollTo(0, 0), 500));
