/**
 * The outermost element of the console: sign-in, tenant, place and announcements. What a page shows, and when it reads, is in
 * `pages/` and `kit/`.
 */

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { type AdminApi, createAdminApi } from '../api/client.ts';
import { followChanges, type LiveChanges } from '../api/live.ts';
import { type ConsoleSession, readSession, signOut } from '../api/session.ts';
import type { PageContext } from '../kit/at.ts';
import { outside } from '../parts/texts.ts';
import { type ConsolePlace, placeAt } from '../place.ts';
import { CONSOLE_ENGLISH, type ConsoleStrings } from '../strings/en.ts';
import { pickLanguage, wordsOf } from '../strings/words.ts';
import { frameView } from './frame.ts';
import { pageView } from './pages.ts';
import { signInView } from './sign-in.ts';

const TENANT_KEY = 'parley-console-tenant';
const SAID_MS = 6_000;

/** `<parley-console>`: the whole page. It knows who has signed in, which place is shown, and what is announced. */
export class ConsoleApp extends LitElement {
  #words: ConsoleStrings = CONSOLE_ENGLISH;
  #session: ConsoleSession | undefined;
  /** True if nobody has signed in, or the session has ended. */
  #isSignedOut = false;
  #failure: unknown;
  #place: ConsolePlace | undefined = placeAt(location);
  #live: LiveChanges | undefined;
  #context: PageContext | undefined;
  #said = '';
  #saidTimer: ReturnType<typeof setTimeout> | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('popstate', this.#onMove);
    this.addEventListener('click', this.#onClick);
    void this.#begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('popstate', this.#onMove);
    this.removeEventListener('click', this.#onClick);
    this.#live?.stop();
  }

  async #begin(): Promise<void> {
    this.#failure = undefined;
    try {
      const session = await readSession();
      await this.#setLanguage(pickLanguage(session?.language, navigator.languages));
      this.#isSignedOut = session === undefined;
      this.#session = session;
      if (session !== undefined) this.#openTenant(rememberedTenant(session));
    } catch (error) {
      this.#failure = error;
    }
    this.#name();
    this.requestUpdate();
  }

  async #setLanguage(lang: string): Promise<void> {
    this.#words = await wordsOf(lang);
    document.documentElement.lang = this.#words.lang;
  }

  /** Opens a tenant with its own client and event stream, so that nothing of the previous tenant is shown. */
  #openTenant(tenant: string): void {
    const session = this.#session;
    const found = session?.tenants.find((one) => one.tenant === tenant);
    this.#live?.stop();
    this.#context = undefined;
    if (session === undefined || found === undefined) return;
    const api = this.#createApi(session, tenant);
    this.#live = followChanges(api, () => this.requestUpdate());
    this.#context = {
      api,
      live: this.#live,
      session,
      tenant,
      roles: found.roles,
      words: this.#words,
      go: (href, how) => this.#go(href, how),
      say: (sentence) => this.#say(sentence),
    };
    this.requestUpdate();
  }

  #createApi(session: ConsoleSession, tenant: string): AdminApi {
    return createAdminApi({
      session,
      tenant,
      lang: this.#words.lang,
      onSignedOut: () => {
        this.#isSignedOut = true;
        this.#live?.stop();
        this.requestUpdate();
      },
    });
  }

  readonly #onMove = () => {
    this.#place = placeAt(location);
    this.#name();
    this.requestUpdate();
  };

  /**
   * Follows a link within the console without loading the page again. Keys and mouse buttons that request a new tab are left to
   * the browser.
   */
  readonly #onClick = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    if (link === undefined || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    // The browser itself follows links within the page, such as the one that skips the navigation.
    const isWithin = url.hash !== '' && url.pathname === location.pathname && url.search === location.search;
    if (url.origin !== location.origin || isWithin || placeAt(url) === undefined) return;
    event.preventDefault();
    this.#go(url.pathname + url.search);
  };

  #go(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
    const before = this.#place;
    if (replace) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
    this.#place = placeAt(location);
    this.#name();
    this.requestUpdate();
    if (this.#place?.page !== before?.page || this.#place?.id !== before?.id) void this.#arrive();
  }

  /** Moves the focus to the heading of a new page, so that screen readers announce it and keyboard navigation starts there. */
  async #arrive(): Promise<void> {
    await this.updateComplete;
    await new Promise(requestAnimationFrame);
    scrollTo(0, 0);
    this.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  #name(): void {
    const { words } = this;
    const place = this.#place;
    const name = place === undefined ? words.notFound : words.pages[place.page];
    document.title = `${name} · ${this.#session?.title ?? 'Parley'}`;
  }

  get words(): ConsoleStrings {
    return this.#words;
  }

  #say(sentence: string): void {
    clearTimeout(this.#saidTimer);
    this.#said = sentence;
    this.#saidTimer = setTimeout(() => {
      this.#said = '';
      this.requestUpdate();
    }, SAID_MS);
    this.requestUpdate();
  }

  readonly #signOut = async () => {
    const session = this.#session;
    if (session === undefined) return;
    try {
      await signOut(session);
      this.#session = undefined;
      this.#context = undefined;
      this.#live?.stop();
      this.#isSignedOut = true;
    } catch {
      this.#say(this.#words.errors.unavailable);
    }
    this.requestUpdate();
  };

  readonly #switchTenant = (tenant: string) => {
    localStorage.setItem(TENANT_KEY, tenant);
    // The place may contain ids of the previous tenant, which mean nothing in another one.
    this.#go('/console');
    this.#openTenant(tenant);
  };

  protected override render(): TemplateResult {
    const words = this.#words;
    if (this.#isSignedOut) return signInView(words, location.pathname + location.search);
    if (this.#failure !== undefined)
      return signInView(words, location.pathname + location.search, () => void this.#begin());
    const context = this.#context;
    if (context === undefined)
      return html`<main class="alone"><p role="status">${this.#session === undefined ? words.loading : words.noTenant}</p></main>`;
    return html`${frameView({
      context,
      place: this.#place,
      onTenant: this.#switchTenant,
      onSignOut: () => void this.#signOut(),
      content: this.#place === undefined ? missingView(words) : pageView(this.#place, context),
    })}
    <div class="said" role="status">${this.#said === '' ? nothing : html`<p>${outside(this.#said)}</p>`}</div>`;
  }
}

function missingView(words: ConsoleStrings): TemplateResult {
  return html`<header class="head"><h1 tabindex="-1">${words.notFound}</h1></header>
    <p><a href="/console">${words.pages.overview}</a></p>`;
}

/** The tenant that was open last in this browser, if the operator still has access to it. */
function rememberedTenant({ tenants }: ConsoleSession): string {
  const last = localStorage.getItem(TENANT_KEY);
  return (tenants.find(({ tenant }) => tenant === last) ?? tenants[0])?.tenant ?? '';
}
