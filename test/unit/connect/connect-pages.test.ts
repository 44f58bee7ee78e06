import { readable } from '@parley/shared/domain/readable';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Language } from '../../../services/api/src/surfaces/connect/pages/language.ts';
import { type PageOptions, renderPage } from '../../../services/api/src/surfaces/connect/pages/page.ts';
import type { ConnectView } from '../../../services/api/src/surfaces/connect/pages/view.ts';
import { ANSWER_SAMPLES, filledAnswer, SAMPLES } from '../../harness/connect/connect-pages-views.ts';
import { sized } from '../../harness/proof-size.ts';

const NONCE = 'bm9uY2Utbm9uY2Utbm9uY2U';
const OPTIONS: PageOptions = { language: 'en', nonce: NONCE, https: true, keepsOpener: false };
const EVERY = LANGUAGES.flatMap((language) => Object.keys(SAMPLES).map((name) => [language, name] as const));

function sample(name: string): ConnectView {
  const view = SAMPLES[name];
  if (view === undefined) throw new Error(`no sample ${name}`);
  return view;
}

function render(view: ConnectView, language: Language = 'en') {
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
  ...['page', 'reason', 'fault', 'state', 'revoked', 'leadsTo', 'about'],
  ...['action', 'again', 'retry', 'disconnect', 'signInPath', 'url', 'tell'],
]);

/** The view with `text` in every place that external text can reach. */
function filledWith(view: ConnectView, text: string): ConnectView {
  const fill = (value: unknown, key: string): unknown => {
    if (NOT_TEXT.has(key) || (view.page === 'continue' && key === 'origin')) return value;
    if (typeof value === 'string') return text;
    if (Array.isArray(value)) return value.map((item) => fill(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fill(part, name)]));
  };
  return fill(view, '') as ConnectView;
}

const HOSTILE = [
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</title></style><svg onload=alert(1)>',
  '</script><script>alert(1)</script>',
  '<!--',
  ']]>',
  '&lt;b&gt;&#x3c;',
  'javascript:alert(1)',
  '" autofocus onfocus="alert(1)',
  '`-alert(1)-`',
  'gpj\u202eexe.',
  'a\u2066b\u2069\u0000\u0007\u001b[31m',
  '\ud83d',
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
    expect(page.html.length).toBeLessThan(16_384);
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
        : /^\/auth\/(?:connect\/|answer\/|accounts\b)/;
    for (const address of addresses) expect(address).toMatch(own);
  });

  it('posts to its own routes, each with its token, and no other field has a value', () => {
    const view = sample(name);
    const targets = Object.values(view).filter((part) => typeof part === 'object' && 'csrf' in part);
    const forms = [
      ...page.html.matchAll(
        /<form method="post" action="([^"]*)" autocomplete="off"[^>]*>\n<input type="hidden" name="csrf" value="([^"]*)">/gu,
      ),
    ];
    expect(forms.map(([, action, csrf]) => ({ action, csrf }))).toEqual(targets);
    expect(page.html.match(/\svalue=/gu)?.length ?? 0).toBe(targets.length);
    expect(page.html.match(/<form/gu)?.length ?? 0).toBe(targets.length);
  });

  it('labels every field and refers only to descriptions that exist', () => {
    const ids = [...page.html.matchAll(/\sid="([^"]*)"/gu)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [field] of page.html.matchAll(/<input(?! type="hidden")[^>]*>/gu)) {
      expect(page.html).toContain(`<label for="${/\sid="([^"]*)"/u.exec(field)?.[1]}">`);
      const described = /aria-describedby="([^"]*)"/u.exec(field)?.[1] ?? '';
      for (const id of described.split(' ').filter(Boolean)) expect(ids).toContain(id);
    }
  });

  it('escapes every input, and makes invisible characters visible', () => {
    const calm = skeletonOf(render(filledWith(sample(name), 'calm'), language).html);
    fc.assert(
      fc.property(hostile, (text) => {
        fc.pre(text.trim() !== '' && text.split('\n').length < 8);
        const filled = render(filledWith(sample(name), text), language).html;
        expect(skeletonOf(filled)).toEqual(calm);
        expect(filled).not.toMatch(INVISIBLE);
        expect(filled.isWellFormed()).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(
  LANGUAGES.flatMap((language) =>
    Object.entries(ANSWER_SAMPLES).map(([name, view]) => ({ language, name, view })),
  ),
)('in $language, the page of $name', ({ language, view }) => {
  it('is one document without another script, style or address', () => {
    const { html } = render(view, language);
    expect(html.match(/<h1>/gu)).toHaveLength(1);
    expect(html).not.toMatch(/undefined|\[object|NaN|<script|<(?:img|link|iframe|object|embed|base)\b/u);
    expect(skeletonOf(html).join('')).not.toMatch(/\s(?:style|src|href|on\w+)=/u);
    const actions = [...html.matchAll(/\saction="([^"]*)"/gu)].map(([, action]) => action);
    expect(actions).toEqual([view.proceed.action, view.decline.action]);
  });

  it('refers only to ids that exist, each once, and names every control', () => {
    const { html } = render(view, language);
    const ids = [...html.matchAll(/\sid="([^"]*)"/gu)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, described = ''] of html.matchAll(/aria-describedby="([^"]*)"/gu))
      for (const id of described.split(' ')) expect(ids).toContain(id);
    for (const [control] of html.matchAll(
      /<(?:input(?! type="(?:hidden|radio|checkbox)")|select|textarea)[^>]*>/gu,
    ))
      expect(html).toContain(`<label for="${/\sid="([^"]*)"/u.exec(control)?.[1]}">`);
  });

  it('escapes every text of the question and of the person', () => {
    const calm = skeletonOf(render(filledAnswer(view, 'calm'), language).html);
    fc.assert(
      fc.property(hostile, (text) => {
        fc.pre(text.trim() !== '' && !text.includes('\n') && !text.includes('\r'));
        const { html } = render(filledAnswer(view, text), language);
        expect(skeletonOf(html)).toEqual(calm);
        expect(html.isWellFormed()).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

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

  it('is never a link', () => {
    const { html } = render(filledWith(sample('consent'), 'https://evil.example/'));
    expect(html).not.toContain('href=');
  });

  it('shows an invisible character by its code point', () => {
    const { html } = render(filledWith(sample('consent'), 'Bank\u200b\u202e'));
    expect(html).toContain('Bank[U+200B][U+202E]');
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

  it.each(['empty', 'rejected', 'unavailable'])(
    'is asked for again with the reason when it was %s',
    (fault) => {
      const { html, status } = render(sample(`secret-${fault}`));
      expect(html).toMatch(/<p class="box bad" role="alert" id="secret-fault">[^<]+<\/p>/u);
      expect(field.exec(html)?.[0]).toContain(
        'aria-describedby="secret-fault secret-help" aria-invalid="true"',
      );
      expect(html).toMatch(/<title>Not accepted: /u);
      expect(status).toBe(fault === 'unavailable' ? 503 : 422);
    },
  );
});

const ELSEWHERE = [
  'javascript:alert(1)',
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  ' /auth',
  'auth/connect',
  '',
  '/auth/ü',
];

describe('a path', () => {
  const formTarget = (action: string) => ({ action, csrf: 'token' });
  const leading: readonly ((path: string) => ConnectView)[] = [
    (path) => ({ page: 'sign-in', signIn: formTarget(path), organisation: 'x' }),
    (path) => ({ page: 'dev-sign-in', signIn: formTarget(path) }),
    (path) => ({ ...sample('consent'), decline: formTarget(path) }) as ConnectView,
    (path) => ({ ...sample('secret'), proceed: formTarget(path) }) as ConnectView,
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

  it('shows the origin with its host highlighted', () => {
    expect(leadTo('https://issues.example.com/x').html).toContain(
      '<span class="origin" dir="ltr">https://<strong>issues.example.com</strong></span>',
    );
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://issues.example.com/',
    'issues.example.com',
    '/path',
    '',
    'https://user@issues.example.com/',
    'https://issues.example.com:8443/',
    'http://issues.example.com/',
    'https://evil.example/',
  ])('is never %j, and the error does not contain the address', (url) => {
    expect(() => leadTo(url)).toThrow(/^a continue page (?:leads|carries) [a-z() ]+$/u);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://issues.example.com/',
    'blob:https://issues.example.com/1',
  ])('is not %j even when the page allows it', (url) => {
    expect(() => leadTo(url, new URL(url).origin)).toThrow('http or https');
  });
});

describe('the final page', () => {
  const tellOf = (tell: readonly string[], elicitationId?: string) =>
    render({ page: 'done', tell, ...(elicitationId !== undefined && { elicitationId }) });

  it('sends the id to the allowed origins, with one script', () => {
    const { html, headers } = render(sample('done'));
    expect(html).toContain(
      `<script nonce="${NONCE}" data-id="el_1f3kq7w2m9t8xv5b4n6c0z" data-origins="https://chat.example.com http://localhost:3000">`,
    );
    expect(headers['content-security-policy']).toContain(`script-src 'nonce-${NONCE}'`);
  });

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
  it('forbid foreign content, framing, referrers and caching [SEC-17]', () => {
    expect(render(sample('consent')).headers).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'en',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${NONCE}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
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

  it('keep the tie to the page that opened this one only where that page is notified', () => {
    const { headers } = renderPage(sample('consent'), { ...OPTIONS, keepsOpener: true });
    expect(headers).toHaveProperty('cross-origin-opener-policy', 'unsafe-none');
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

  it.each([
    ['consent', 200],
    ['continue', 200],
    ['done', 200],
    ['declined', 200],
    ['expired', 410],
    ['settled', 409],
    ['mismatch', 403],
    ['not-found', 404],
    ['failed-consent_refused', 200],
    ['failed-provider_error', 400],
    ['failed-unavailable', 503],
    ['refused', 403],
  ])('of %s come with status %i', (name, status) => {
    expect(render(sample(name)).status).toBe(status);
  });

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
      'Release assistant asks to use your Issue tracker account',
      'To file the bug for you',
      'Signed in as ada@example.com',
      'You will be sent to https:// issues.example.com',
      'issues:read',
      'issues:write',
      'offline_access',
      'Continue to issues.example.com',
      'Decline',
      'close this window and decide later',
    ])
      expect(text).toContain(part);
  });

  it('warns of hosts that can look like others', () => {
    expect(textOf('consent-long')).toContain('look like other letters');
    expect(textOf('consent')).not.toContain('look like other letters');
  });

  it('when the question ended meanwhile: the account is connected for the next time', () => {
    expect(textOf('done-kept')).toMatch(
      /had ended.*Issue tracker is connected now and will be used the next time/u,
    );
  });

  it('names permissions that were not granted', () => {
    expect(textOf('done-withheld')).toMatch(/did not grant.*issues:write.*offline_access/u);
  });

  it('after a failure is the reason, where to try again and the reference for support', () => {
    expect(textOf('failed-bad_state')).toMatch(/another attempt.*Try again.*req_7Qk2mZr9/u);
    expect(textOf('failed-bare')).toMatch(/open the link there again.*server_error.*req_7Qk2mZr9/u);
  });

  it('differs from ending to ending', () => {
    const endings = [
      'declined',
      'expired',
      'settled',
      'mismatch',
      'not-found',
      'refused',
      'too-many',
      'unavailable',
    ];
    const failures = Object.keys(SAMPLES).filter((name) => /^failed-(?!bare)/u.test(name));
    const titles = [...endings, ...failures, 'done'].map(
      (name) => /<h1>(.*)<\/h1>/u.exec(render(sample(name)).html)?.[1],
    );
    expect(new Set(titles).size).toBe(titles.length);
  });

  it.each([
    [0.2, 'one second'],
    [45, '45 seconds'],
    [91, '2 minutes'],
    [3_660, '61 minutes'],
  ])('after too many attempts is how long to wait: %d s is %s', (retryAfterSeconds, words) => {
    expect(render({ page: 'too-many', retryAfterSeconds }).html).toContain(words);
  });
});
