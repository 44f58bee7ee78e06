/** Cookies of one person's browser. They belong to a host, regardless of the port. */
export interface CookieJar {
  /** The `cookie` header for a request; empty if there are no cookies. */
  header(url: string): string;
  store(url: string, setCookies: readonly string[]): void;
}

/** An empty jar. It ignores `Secure`, so that it also works on loopback without TLS. */
export function createCookieJar(): CookieJar {
  const cookies = new Map<string, { host: string; path: string; pair: string }>();
  return {
    header(url) {
      const { hostname, pathname } = new URL(url);
      const covers = (path: string) => path === '/' || pathname === path || pathname.startsWith(`${path}/`);
      const fitting = [...cookies.values()].filter(({ host, path }) => host === hostname && covers(path));
      return fitting.map(({ pair }) => pair).join('; ');
    },
    store(url, setCookies) {
      const host = new URL(url).hostname;
      for (const line of setCookies) {
        const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
        const named = new Map(
          attributes.map((one) => [one.split('=')[0]?.toLowerCase() ?? '', one.slice(one.indexOf('=') + 1)]),
        );
        const path = (named.get('path') ?? '/').replace(/(?<=.)\/$/u, '');
        const key = `${host} ${path} ${pair.split('=')[0]}`;
        const ended = named.get('max-age') === '0' || Date.parse(named.get('expires') ?? '') <= Date.now();
        if (ended) cookies.delete(key);
        else cookies.set(key, { host, path, pair });
      }
    },
  };
}

export interface Walk {
  /** The address to which the person is sent. */
  readonly url: string;
  readonly user: string;
  /** The person's answer on consent pages; by default `accept`. */
  readonly consent?: 'accept' | 'refuse';
  /** The cookies of the person's browser; by default a new browser. */
  readonly jar?: CookieJar;
  /** The walk ends before it calls the first such address; by default, the first with another host or port. */
  readonly stopAt?: (url: string) => boolean;
}

const STEPS_MAX = 25;
const STEP_MS_MAX = 30_000;
const FORM = /<form method="post" action="([^"]+)" data-form="([^"]+)">/gu;

/**
 * Goes through a stand-in's pages as a person would, without a browser: follows redirects, signs in, consents. Returns the
 * address where the walk ended. Throws if it finds no next step.
 */
export async function walkSignIn(walk: Walk): Promise<string> {
  const { user, consent = 'accept', jar = createCookieJar() } = walk;
  const { origin } = new URL(walk.url);
  const stopAt = walk.stopAt ?? ((url: string) => new URL(url).origin !== origin);

  let url = walk.url;
  let body: URLSearchParams | undefined;
  for (let step = 0; step < STEPS_MAX; step++) {
    if (step > 0 && stopAt(url)) return url;
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie: jar.header(url) },
      redirect: 'manual',
      signal: AbortSignal.timeout(STEP_MS_MAX),
      ...(body !== undefined && { body }),
    });
    jar.store(url, response.headers.getSetCookie());
    const location = response.headers.get('location');
    const html = await response.text();
    const forms = new Map([...html.matchAll(FORM)].map(([, action, kind]) => [kind, action]));
    const action = forms.get('login') ?? forms.get('start') ?? forms.get(consent);
    const next =
      response.status >= 300 && response.status < 400 ? location : response.ok ? action : undefined;
    if (next === undefined || next === null)
      throw new Error(`no way on from ${new URL(url).pathname}: status ${response.status}`);
    body = location === null ? new URLSearchParams({ user }) : undefined;
    url = new URL(next, url).href;
  }
  throw new Error('the walk does not end');
}
