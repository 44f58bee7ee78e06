import { randomBytes } from 'node:crypto';
import { isParleyError } from '@parley/core/domain/errors';
import { LIVE } from '../../accounts/own-pages.ts';
import { languageOf } from '../../http/headers/language.ts';
import { json, type PathParams, type Reply, type RequestHead } from '../../http/route.ts';
import { renderPage } from '../views/page.ts';
import { addressOf } from './attempts.ts';
import type { Browser } from './browser.ts';
import type { PageParts } from './parts.ts';
import { type PageReply, type ProgramAnswer, page, type Visit } from './visit.ts';

const NONCE_BYTES = 16;

interface PageCall {
  readonly head: RequestHead;
  readonly caller: Browser;
  readonly params?: PathParams;
  readonly form?: URLSearchParams | undefined;
}

/** Reads a request to a hosted page for its handlers. */
export function readVisit(
  parts: Pick<PageParts, 'proxyHops'>,
  { head, caller, params, form }: PageCall,
): Visit {
  const mark = head.url.indexOf('?');
  return {
    head,
    browser: caller,
    param: params?.id ?? '',
    query: new URLSearchParams(mark < 0 ? '' : head.url.slice(mark + 1)),
    address: addressOf(head, parts.proxyHops),
    requestId: head.requestId,
    form,
  };
}

/** Converts a handler's result for a person to a reply. A new browser gets its cookie. */
export function replyOf(parts: PageParts, visit: Visit, answer: PageReply): Reply {
  const newId = answer.browserId ?? (visit.browser.isNew ? visit.browser.id : undefined);
  const cookie = newId === undefined ? {} : { 'set-cookie': parts.cookie.headers(newId, visit.head) };
  if (answer.type === 'moved') {
    const headers = { 'referrer-policy': 'no-referrer', location: answer.path, ...cookie };
    return { type: 'empty', status: 303, headers };
  }
  const { status, headers, html } = renderPage(answer.view, {
    language: languageOf(visit.head.headers['accept-language']),
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    https: parts.https,
    keepsOpener: parts.notifyOrigins.length > 0,
    brand: parts.brand,
    isUpdate: visit.query.has(LIVE),
  });
  return { type: 'text', status, body: html, headers: { ...headers, ...cookie } };
}

/** Converts a handler's result for a program to a reply. */
export function programReply(answer: ProgramAnswer): Reply {
  if (answer.type === 'json') return json(answer.status, answer.body);
  const { status } = answer;
  return { type: 'empty', status, ...(status === 503 && { headers: { 'retry-after': '1' } }) };
}

/** The page for an error. `requestId` is for support. */
export function errorAnswer(error: unknown, requestId: string): PageReply {
  if (isParleyError(error, 'not_found')) return page({ page: 'not-found' });
  if (isParleyError(error, 'rate_limited') || isParleyError(error, 'read_quota'))
    return page({ page: 'too-many', retryAfterSeconds: error.retryAfterSeconds ?? 1 });
  return page({ page: 'unavailable', requestId });
}
