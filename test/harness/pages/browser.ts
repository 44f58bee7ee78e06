import type { AnsweredAs } from '../../../services/api/src/pages/views/answer/strings.ts';
import { renderPage } from '../../../services/api/src/pages/views/page.ts';
import type { PageView } from '../../../services/api/src/pages/views/view.ts';
import { type CookieJar, createCookieJar, walkSignIn } from '../../../stand-ins/authorization-server/walk.ts';
import type { World } from './setup.ts';

/** A page as a browser got it. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** The text of its heading. */
  readonly heading: string;
  /** Forms by the last part of their action's path; the hidden fields of each. */
  readonly forms: ReadonlyMap<
    string,
    { readonly action: string; readonly fields: Readonly<Record<string, string>> }
  >;
  /** Where a page that leads on leads. */
  readonly link: string | undefined;
  /** The address that a page reloads by itself. */
  readonly again: string | undefined;
  /** Paths that redirects led over. */
  readonly hops: readonly string[];
}

export interface PostOptions {
  /** The Origin header that the browser sends with a post; by default the origin of the pages. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A person's browser: keeps cookies, follows redirects on our own origin, and nothing else by itself. */
export interface TestBrowser {
  readonly jar: CookieJar;
  open(pathOrUrl: string): Promise<Shown>;
  post(path: string, fields: Readonly<Record<string, string>>, options?: PostOptions): Promise<Shown>;
  /** The same for fields of which some have one name. */
  postAll(path: string, fields: [name: string, value: string][], options?: PostOptions): Promise<Shown>;
  /** Sends a form of a page; `more` are the fields that the person filled in. */
  submit(shown: Shown, form: string, more?: Readonly<Record<string, string>>): Promise<Shown>;
  /**
   * Goes through the pages that a page leads on to, as that user, and comes back; gives the address it came back to. With
   * `elsewhere`, the browser is not signed in there yet.
   */
  walk(shown: Shown, user: string, consent?: 'accept' | 'refuse', elsewhere?: CookieJar): Promise<string>;
  /** Goes on from a page that asks for consent, through the provider's pages as that user, and back. */
  connect(shown: Shown, user?: string): Promise<Shown>;
  /** Opens a question's page and signs in. */
  enter(path: string, user: string): Promise<Shown>;
}

const HOPS_MAX = 5;

export function createTestBrowser({ publicUrl }: Pick<World, 'publicUrl'>): TestBrowser {
  const jar = createCookieJar();

  async function send(url: string, init: RequestInit, hops: readonly string[] = []): Promise<Shown> {
    const response = await fetch(url, {
      ...init,
      headers: { cookie: jar.header(url), ...(init.headers as Record<string, string>) },
      redirect: 'manual',
    });
    jar.store(url, response.headers.getSetCookie());
    const location = response.headers.get('location');
    const html = await response.text();
    if (location !== null && hops.length < HOPS_MAX) {
      const target = new URL(location, publicUrl);
      if (target.origin !== publicUrl) throw new Error(`led to ${target.origin}`);
      return send(target.href, {}, [...hops, target.pathname + target.search]);
    }
    return shownOf(response, html, hops);
  }

  const browser: TestBrowser = {
    jar,
    open: (pathOrUrl) => send(pathOrUrl.startsWith('/') ? publicUrl + pathOrUrl : pathOrUrl, {}),
    post: (path, fields, options) => browser.postAll(path, Object.entries(fields), options),
    async postAll(path, fields, { headers = {} } = {}) {
      const all = { origin: publicUrl, 'sec-fetch-site': 'same-origin', ...headers };
      const present = Object.entries(all).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      const body = new URLSearchParams(fields);
      return send(publicUrl + path, { method: 'POST', headers: Object.fromEntries(present), body });
    },
    async submit(shown, form, more = {}) {
      const found = shown.forms.get(form);
      if (found === undefined) throw new Error(`no form ${form} on: ${shown.status} ${shown.heading}`);
      return browser.post(found.action, { ...found.fields, ...more });
    },
    async walk(shown, user, consent = 'accept', elsewhere = jar) {
      if (shown.link === undefined) throw new Error(`leads nowhere: ${shown.status} ${shown.heading}`);
      const stopAt = (url: string) => url.startsWith(publicUrl);
      return walkSignIn({ url: shown.link, user, consent, jar: elsewhere, stopAt });
    },
    async connect(shown, user = 'ada-at-tracker') {
      return browser.open(await browser.walk(await browser.submit(shown, 'start'), user));
    },
    async enter(path, user) {
      const shown = await browser.open(path);
      if (shown.forms.get('sign-in') === undefined) return shown;
      const left = await browser.submit(shown, 'sign-in', { user });
      // Pages of ours have links to each other, too.
      return left.link?.startsWith('http') ? browser.open(await browser.walk(left, user)) : left;
    },
  };
  return browser;
}

/** The heading of a page, by its present text. */
export function headingOf(view: PageView): string {
  const { html } = renderPage(view, {
    language: 'en',
    nonce: 'A'.repeat(22),
    https: false,
    keepsOpener: false,
  });
  return headingIn(html);
}

/** Ids of no question, well formed and not. */
export const UNKNOWN_IDS = [
  'el_00AAAAAAAAAAAAAAAAAAAAAA',
  'el_99AAAAAAAAAAAAAAAAAAAAAA',
  'x',
  '..',
  '%2e%2e',
  'a'.repeat(300),
];

const requestId = 'r';
/** The headings of pages that tests meet. */
export const SAYS = {
  connected: (service = 'issues') => headingOf({ page: 'done', service: `Service ${service}` }),
  declined: headingOf({ page: 'declined' }),
  expired: headingOf({ page: 'expired' }),
  settled: headingOf({ page: 'settled' }),
  ended: (ended: AnsweredAs) => headingOf({ page: 'answer-ended', ended }),
  mismatch: headingOf({ page: 'mismatch' }),
  notFound: headingOf({ page: 'not-found' }),
  refused: headingOf({ page: 'refused' }),
  tooMany: headingOf({ page: 'too-many', retryAfterSeconds: 600 }),
  waiting: headingOf({ page: 'waiting', again: '/' }),
  failed: (reason: (PageView & { page: 'failed' })['reason']) =>
    headingOf({ page: 'failed', reason, requestId }),
  signIn: headingOf({ page: 'sign-in', organisation: '', signIn: { action: '/', csrf: '' } }),
} as const;

function headingIn(html: string): string {
  return (/<h1[^>]*>([\s\S]*?)<\/h1>/u.exec(html)?.[1] ?? '').replace(/<[^>]+>/gu, '');
}

function shownOf(response: Response, html: string, hops: readonly string[]): Shown {
  const forms = [...html.matchAll(/<form method="post" action="([^"]+)"[\s\S]*?<\/form>/gu)].map(
    ([markup, action = '']) => {
      const hidden = [...markup.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/gu)];
      const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
      const path = unescaped(action);
      return [path.split('?')[0]?.split('/').at(-1) ?? '', { action: path, fields }] as const;
    },
  );
  const link = /<a class="button" href="([^"]+)"/u.exec(html)?.[1];
  const again = /<meta http-equiv="refresh" content="\d+; url=(\/[^"]+)"/u.exec(html)?.[1];
  return {
    status: response.status,
    headers: response.headers,
    html,
    heading: headingIn(html),
    forms: new Map(forms),
    again: again === undefined ? undefined : unescaped(again),
    link: link === undefined ? undefined : unescaped(link),
    hops,
  };
}

function unescaped(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');
}
