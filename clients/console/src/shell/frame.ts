import { html, nothing, type TemplateResult } from 'lit';
import type { PageContext } from '../kit/at.ts';
import { outside } from '../parts/texts.ts';
import { type ConsolePlace, hrefOf, type PageName, sectionOf } from '../place.ts';

const SECTIONS = [
  'overview',
  'elicitations',
  'approvals',
  'turns',
  'deliveries',
  'people',
  'insights',
] as const satisfies readonly PageName[];

interface FrameProps {
  readonly context: PageContext;
  readonly place: ConsolePlace | undefined;
  readonly content: TemplateResult;
  readonly onTenant: (tenant: string) => void;
  readonly onSignOut: () => void;
}

/** The navigation, with the page beside it. */
export function frameView({ context, place, content, onTenant, onSignOut }: FrameProps): TemplateResult {
  const { words, session, live } = context;
  const here = place === undefined ? undefined : sectionOf(place.page);
  return html`
    <a class="skip" href="#content" @click=${skip}>${words.skip}</a>
    <div class="frame">
      <nav class="side" aria-label=${words.navigation}>
        <p class="brand">
          ${session.logoUrl === undefined ? nothing : html`<img src=${session.logoUrl} alt="" height="24" />`}
          ${outside(session.title)}
        </p>
        <ul>
          ${SECTIONS.map(
            (page) =>
              html`<li><a href=${hrefOf(page)} aria-current=${page === here ? 'page' : nothing}>${words.pages[page]}</a></li>`,
          )}
        </ul>
        <div class="who">
          ${tenantView(context, onTenant)}
          <p class="live ${live.state}">${words.live[live.state]}</p>
          <p class="name">${outside(session.name)}</p>
          <p class="quiet">${context.roles.map((role) => words.roles[role]).join(', ')}</p>
          <button type="button" class="button small" @click=${onSignOut}>${words.signOut}</button>
        </div>
      </nav>
      <main id="content" tabindex="-1">${content}</main>
    </div>
  `;
}

function tenantView(
  { session: { tenants }, tenant, words }: PageContext,
  onTenant: (tenant: string) => void,
) {
  if (tenants.length < 2) return html`<p class="tenant">${outside(tenant)}</p>`;
  const onChange = ({ target }: Event) => onTenant((target as HTMLSelectElement).value);
  return html`<label class="field">${words.tenant}
    <select @change=${onChange}>
      ${tenants.map((one) => html`<option value=${one.tenant} ?selected=${one.tenant === tenant}>${one.tenant}</option>`)}
    </select>
  </label>`;
}

/** A script moves the focus, because a link within the page would add its hash to the address. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#content')?.focus();
}
