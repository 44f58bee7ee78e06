import type { Surface } from '../../../http/route.ts';
import type { CookieKind } from '../flows/browser.ts';
import { missingPage, type PageRoute, pageRoute } from '../handlers/page-route.ts';
import { createPageParts } from '../handlers/parts.ts';
import {
  type AnswerDeps,
  type AnswerParts,
  acceptQuestion,
  declineQuestion,
  openLink,
  showQuestion,
} from './handlers.ts';
import { ACCESS_SECONDS_MAX } from './links.ts';

// Fifty texts of some length; every character may take nine bytes in a form.
const ANSWER_BYTES_MAX = 256 * 1024;

// As long as a link can give access. Signing in on the connect pages does not change it.
const ANSWER_COOKIE: CookieKind = { name: 'parley-answer', maxAgeSeconds: ACCESS_SECONDS_MAX };

const PAGES: readonly PageRoute<AnswerParts>[] = [
  { method: 'GET', path: '/auth/answer/:id', handle: showQuestion, readsOnly: true },
  { method: 'POST', path: '/auth/answer/:id/open', handle: openLink },
  { method: 'POST', path: '/auth/answer/:id/accept', handle: acceptQuestion, formBytesMax: ANSWER_BYTES_MAX },
  { method: 'POST', path: '/auth/answer/:id/decline', handle: declineQuestion },
];

/** All of `/auth/answer`: the pages on which people answer a question by a link. Mount it before the rest of `/auth`. */
export function answerPageRoutes(deps: AnswerDeps): Surface {
  const parts = createPageParts(deps, ANSWER_COOKIE);
  return {
    routes: PAGES.map((one) => pageRoute(parts, one)),
    below: { path: '/auth/answer', missing: missingPage(parts) },
  };
}
