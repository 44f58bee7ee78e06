import { readable } from '@parley/core/domain/readable';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Language } from '../../../services/api/src/http/headers/language.ts';
import { type PageOptions, renderPage } from '../../../services/api/src/pages/views/page.ts';
import type { PageView } from '../../../services/api/src/pages/views/view.ts';
import { ANSWER_SAMPLES, filledAnswer, SAMPLES } from '../../harness/pages/connect-pages-views.ts';
import { sized } from '../../harness/proof-size.ts';

const NONCE = 'bm9uY2Utbm9uY2Utbm9uY2U';
const OPTIONS: PageOptions = { language: 'en', nonce: NONCE, https: true, keepsOpener: false };
const ALL: Readonly<Record<string, PageView>> = { ...SAMPLES, ...ANSWER_SAMPLES };
const EVERY = LANGUAGES.flatMap((language) => Object.keys(ALL).map((name) => [language, name] as const));

function sample(name: string): PageView {
  const view = ALL[name];
  if (view === undefined) throw new Error(`no sample ${name}`);
  return view;
}

function render(view: PageView, language: Language = 'en') {
  return renderPage(view, { ...OPTIONS, language });
}

/** The tags of a document in order, with the values of their attributes emptied. */
function skeletonOf(document: string): string[] {
  const attributesEmptied = (tag: string) => tag.replace(/"[^"]*"/gu, '""');
  return [...document.replace(/<style.*?<\/style>/su, '').matchAll(/<[^>]*>/gu)].map(([tag]) =>
    attributesEmptied(tag),
  );
}

function unescaped(markup: string): string {
  const signs: Record<string, string> = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&#96;': '`',
    '&amp;': '&',
  };
  return markup.replace(/&(?:lt|gt|quot|#39|#96|amp);/gu, (reference) => signs[reference] ?? '');
}

// Neither text nor free: names of pages and choices, and what must be a path, a URL or an origin.
const NOT_TEXT = new Set([
  ...[
    'page',
    'fault',
    'state',
    'revoked',
    'leadsTo',
    'about',
    'remember',
    'risk',
    'ended',
    'path',
    'denyPath',
  ],
  ...['action', 'again', 'retry', 'disconnect', 'signInPath', 'url', 'tell'],
]);

/** The targets of a view's forms, in the order of the view. */
function targetsIn(part: unknown): object[] {
  if (typeof part !== 'object' || part === null) return [];
  return 'csrf' in part ? [part] : Object.values(part).flatMap(targetsIn);
}

/** The view with `text` in every place that external text can reach. */
function filledWith(view: PageView, text: string): PageView {
  if (view.page === 'answer') return filledAnswer(view, text);
  const fill = (value: unknown, key: string): unknown => {
    if (
      NOT_TEXT.has(key) ||
      (view.page === 'failed' && key === 'reason') ||
      (view.page === 'continue' && key === 'origin')
    )
      return value;
    if (typeof value === 'string') return text;
    if (Array.isArray(value)) return value.map((item) => fill(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fill(part, name)]));
  };
  return fill(view, '') as PageView;
}

const HOSTILE = [
  ...['"><script>alert(1)</script>', "'><img src=x onerror=alert(1)>"],
  ...['</title></style><svg onload=alert(1)>', '</script><script>alert(1)</script>', '<!--', ']]>'],
  ...['&lt;b&gt;&#x3c;', 'javascript:alert(1)', '" autofocus onfocus="alert(1)', '`-alert(1)-`'],
  ...['gpj\u202eexe.', 'a\u2066b\u2069\u0000\u0007\u001b[31m', '\ud83d'],
  'Bank\u200b\u200e\ufeff\u{e0041}\u0085',
];
const INVISIBLE =
  /[^\P{Cc}\t\n\r]|[\u061c\u115f\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\u{e0000}-\u{e007f}]/u;
const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(...'<>"\'`&;/!-=a \u202e\u2069\0'), minLength: 1, maxLength: 20 }),
);

describe.each(EVERY)('in %s, %s', (language, name) => {
  const page = render(sample(name), language);

  it('is one small document with one heading and a title in words', () => {
    expect(page.html).toMatch(new RegExp(`^<!doctype html>\n<html lang="${language}">`, 'u'));
    expect(page.html.match(/<h1>/gu)).toHaveLength(1);
    expect(page.html.match(/<main>/gu)).toHaveLength(1);
    expect(page.html).toMatch(/<title>[^<]{3,}<\/title>/u);
    expect(page.html).not.toMatch(/undefined|\[object|NaN/u);
    expect(page.html.length).toBeLessThan(24_576);
  });

  it('has no style and no script but its own, and no address but its own', () => {
    expect(
      page.html.match(/<(?:style|script)\b[^>]*>/gu)?.every((tag) => tag.includes(`nonce="${NONCE}"`)),
    ).toBe(true);
    expect(page.html).not.toMatch(/<(?:img|link|iframe|object|embed|base)\b/u);
    expect(skeletonOf(page.html).join('')).not.toMatch(/\s(?:style|src|on\w+)=/u);
    const addresses = [...page.html.matchAll(/\s(?:href|action)="([^"]*)"/gu)].map(([, address]) => address);
    const own =
      name === 'continue'
        ? /^https:\/\/issues\.example\.com\//
        : /^\/auth\/(?:connect\/|answer\/|accounts\b|inbox\b)/;
    for (const address of addresses) expect(address).toMatch(own);
  });

  it('posts to its own routes, each with its token, and no other field has a value', () => {
    const view = sample(name);
    const targets = targetsIn(view);
    const forms = [
      ...page.html.matchAll(
        /<form method="post" action="([^"]*)" autocomplete="off"[^>]*>\n<input type="hidden" name="csrf" value="([^"]*)">/gu,
      ),
    ];
    expect(forms.map(([, action, csrf]) => ({ action, csrf }))).toEqual(targets);
    if (view.page !== 'answer' && view.page !== 'group')
      expect(page.html.match(/\svalue=/gu)?.length ?? 0).toBe(targets.length);
    expect(page.html.match(/<form/gu)?.length ?? 0).toBe(targets.length);
  });

  it('labels every field and refers only to descriptions that exist', () => {
    const ids = [...page.html.matchAll(/\sid="([^"]*)"/gu)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, described = ''] of page.html.matchAll(/aria-describedby="([^"]*)"/gu))
      for (const id of described.split(' ')) expect(ids).toContain(id);
    for (const [control] of page.html.matchAll(
      /<(?:input(?! type="(?:hidden|radio|checkbox)")|select|textarea)[^>]*>/gu,
    ))
      expect(page.html).toContain(`<label for="${/\sid="([^"]*)"/u.exec(control)?.[1]}">`);
  });

  it('escapes every input, and makes invisible characters visible', () => {
    const calm = skeletonOf(render(filledWith(sample(name), 'calm'), language).html);
    fc.assert(
      fc.property(hostile, (text) => {
        const lines = text.split(/[\r\n]/u).length;
        fc.pre(text.trim() !== '' && lines < (name.startsWith('answer') ? 2 : 8));
        const filled = render(filledWith(sample(name), text), language).html;
        expect(skeletonOf(filled)).toEqual(calm);
        expect(filled).not.toMatch(INVISIBLE);
        expect(filled.isWellFormed()).toBe(true);
      }),
      { numRuns: sized(60, 10) },
    );
  });
});

// Pages of answers and approvals, and pages that any hosted page may turn into.
const BEYOND_CONNECTING = [
  ...Object.keys(ANSWER_SAMPLES),
  ...['answered', 'answer-declined', 'answer-expired', 'answer-settled', 'failed-sign-in'],
  ...['refused', 'too-many', 'unavailable', 'not-found'],
];

it.each(LANGUAGES)(
  'in %s, only the pages on which accounts are connected speak of that, or of a chat',
  (language) => {
    for (const name of BEYOND_CONNECTING) {
      const words = render(sample(name), language).html.replace(/<style.*?<\/style>/su, '');
      expect([name, words]).toEqual([
        name,
        expect.not.stringMatching(/connect(?:ed|ion)|verbunden|in the chat|im Chat/u),
      ]);
    }
  },
);

describe('a text', () => {
  it('is shown unchanged, except for invisible characters', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        fc.pre(text.trim() !== '');
        const { html } = render(filledWith(sample('consent'), text));
        const [, person] = /<dd><bdi class="name">([^<]*)<\/bdi>/u.exec(html) ?? [];
        expect(unescaped(person ?? '')).toBe(readable(text));
      }),
    );
  });
});

describe('a secret', () => {
  const field = /<input type="password"[^>]*>/u;

  it('is asked for in a password field without autocomplete and with its maximum length', () => {
    const input = field.exec(render(sample('secret')).html)?.[0];
    expect(input).toContain(' name="secret" required maxlength="200" autocomplete="off"');
    expect(input).not.toContain('value');
    expect(input).not.toContain('aria-invalid');
  });
});

const ELSEWHERE = [
  ...[
    ...['javascript:alert(1)', 'https://evil.example/', '//evil.example', '/\\evil.example'],
    '/\t/evil.example',
  ],
  ...[' /auth', 'auth/connect', '', '/auth/ü'],
];

describe('a path', () => {
  const formTarget = (action: string) => ({ action, csrf: 'token' });
  const leading: readonly ((path: string) => PageView)[] = [
    (path) => ({ page: 'sign-in', signIn: formTarget(path), organisation: 'x' }),
    (path) => ({ page: 'dev-sign-in', signIn: formTarget(path) }),
    (path) => ({ ...sample('consent'), decline: formTarget(path) }) as PageView,
    (path) => ({ ...sample('secret'), proceed: formTarget(path) }) as PageView,
    (path) => ({ page: 'mismatch', signOut: formTarget(path) }),
    (path) => ({ page: 'waiting', again: path }),
    (path) => ({ page: 'refused', retry: path }),
    (path) => ({ page: 'failed', reason: 'bad_state', retry: path, requestId: 'r' }),
  ];

  it.each(ELSEWHERE)('is never %j', (path) => {
    for (const view of leading) expect(() => render(view(path))).toThrow('paths of its own origin');
  });

  it('stays on its own origin, however it is written', () => {
    const unit = fc.constantFrom('/', '\\', '.', ':', '@', '?', '#', '\t', '\n', ' ', 'a', '%', '2', 'f');
    const own = 'https://self.example';
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (rest) => {
        let html: string;
        try {
          html = render({ page: 'waiting', again: `/${rest}` }).html;
        } catch {
          return;
        }
        const [, address] = /href="([^"]*)"/u.exec(html) ?? [];
        expect(new URL(unescaped(address ?? 'none:'), own).origin).toBe(own);
      }),
      { numRuns: sized(1_000) },
    );
  });
});

describe('a redirect to another origin', () => {
  const leadTo = (url: string, origin = 'https://issues.example.com') =>
    render({ page: 'continue', url, origin });

  it('is a link and a refresh to the same address', () => {
    const url = 'https://issues.example.com/a?x=1&y=%22&z=\'"><script>#\'"';
    const { html } = leadTo(url);
    const [, link] = /<a class="button" href="([^"]*)"/u.exec(html) ?? [];
    const [, refresh] = /<meta http-equiv="refresh" content="0; url=([^"]*)">/u.exec(html) ?? [];
    expect(unescaped(link ?? '')).toBe(new URL(url).href);
    expect(refresh).toBe(link);
  });

  it.each([
    ...[
      ...['javascript:alert(1)', 'data:text/html,x', 'ftp://issues.example.com/', 'issues.example.com'],
      '/path',
    ],
    ...['', 'https://user@issues.example.com/', 'https://issues.example.com:8443/', 'https://evil.example/'],
  ])('is never %j, and the error does not contain the address', (url) => {
    expect(() => leadTo(url)).toThrow(/^a continue page (?:leads|carries) [a-z() ]+$/u);
  });

  it.each(['javascript:alert(1)', 'ftp://issues.example.com/', 'blob:https://issues.example.com/1'])(
    'is not %j even when the page allows it',
    (url) => {
      expect(() => leadTo(url, new URL(url).origin)).toThrow('http or https');
    },
  );
});

describe('the final page', () => {
  const tellOf = (tell: readonly string[], elicitationId?: string) =>
    render({ page: 'done', tell, ...(elicitationId !== undefined && { elicitationId }) });

  it.each([['*'], ['/'], ['null'], ['https://chat.example.com/path'], ['javascript:x'], ['']])(
    'sends nothing to an origin %j',
    (origin) => {
      expect(tellOf([origin], 'el_1').html).not.toContain('<script');
      expect(tellOf([origin, 'https://a.example'], 'el_1').html).toContain(
        'data-origins="https://a.example"',
      );
    },
  );

  it('has no script without an origin or an id to send', () => {
    for (const page of [tellOf([], 'el_1'), tellOf(['https://a.example']), render(sample('done-bare'))]) {
      expect(page.html).not.toContain('<script');
      expect(page.headers['content-security-policy']).not.toContain('script-src');
    }
  });
});

describe('headers', () => {
  it('forbid content of others, framing, referrers and caching [SEC-17]', () => {
    expect(render(sample('consent')).headers).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'en',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${NONCE}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
      'cache-control': 'no-store',
      'permissions-policy': expect.stringContaining('camera=(), '),
      'strict-transport-security': 'max-age=31536000',
    });
  });

  it('allow the picture of the deployment from its own origin alone', () => {
    const brand = { title: 'A <b>', logoUrl: 'https://img.example:8443/a;b,c.svg?x=" onerror="' };
    const { headers, html } = renderPage(sample('consent'), { ...OPTIONS, brand });
    expect(headers['content-security-policy']).toMatch(
      /; img-src https:\/\/img\.example:8443; form-action 'self';/u,
    );
    expect(html).toContain(
      '<img src="https://img.example:8443/a;b,c.svg?x=&quot; onerror=&quot;" alt=""><bdi>A &lt;b&gt;</bdi>',
    );
    expect(html).toMatch(/<title>[^<]+ · A &lt;b&gt;<\/title>/u);
  });

  it('demand https only where https is used', () => {
    const { headers } = renderPage(sample('consent'), { ...OPTIONS, https: false });
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  it.each(['', 'short', `${NONCE}'; script-src *`, `${NONCE}\r\nx: y`, `${NONCE}"><script>`])(
    'refuse a nonce like %j',
    (nonce) => {
      expect(() => renderPage(sample('consent'), { ...OPTIONS, nonce })).toThrow('nonce');
    },
  );

  it('contain when to retry', () => {
    expect(render(sample('too-many'))).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
    expect(render(sample('unavailable'))).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  });
});

describe('what a person reads', () => {
  const textOf = (name: string) =>
    unescaped(
      render(sample(name))
        .html.replace(/<(style|script|title).*?<\/\1>/gsu, '')
        .replace(/<[^>]*>/gu, ' ')
        .replace(/\s+/gu, ' '),
    );

  it('before consent is who asks, for what, for which user, where it leads, which permissions, and how to decline [SEC-08]', () => {
    const text = textOf('consent');
    for (const part of [
      ...['Release assistant asks to use your Issue tracker account', 'To file the bug for you'],
      ...['Signed in as ada@example.com', 'You will be sent to https:// issues.example.com', 'issues:read'],
      ...['issues:write', 'offline_access', 'Continue to issues.example.com', 'Decline'],
      'close this window and decide later',
    ])
      expect(text).toContain(part);
  });

  it('warns of hosts that can look like others', () => {
    expect(textOf('consent-long')).toContain('look like other letters');
    expect(textOf('consent')).not.toContain('look like other letters');
  });

  it('names permissions that were not granted', () => {
    expect(textOf('done-withheld')).toMatch(/did not grant.*issues:write.*offline_access/u);
  });

  it('after a failure is the reason, where to try again and the reference for support', () => {
    expect(textOf('failed-bad_state')).toMatch(/another attempt.*Try again.*req_7Qk2mZr9/u);
    expect(textOf('failed-bare')).toMatch(
      /open the link again where you found it.*server_error.*req_7Qk2mZr9/u,
    );
  });

  it('differs from ending to ending', () => {
    const endings = ['declined', 'expired', 'settled', 'mismatch', 'not-found', 'refused'];
    const failures = Object.keys(SAMPLES).filter((name) => /^failed-(?!bare)/u.test(name));
    const titles = [...endings, ...failures, 'too-many', 'unavailable', 'done'].map(
      (name) => /<h1>(.*)<\/h1>/u.exec(render(sample(name)).html)?.[1],
    );
    expect(new Set(titles).size).toBe(titles.length);
  });
});
