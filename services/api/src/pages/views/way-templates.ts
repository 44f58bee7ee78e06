import { html } from '../kit/html.ts';
import type { Template } from '../kit/layout.ts';
import { accountsLink } from './accounts/templates.ts';
import {
  actions,
  buttonLink,
  hostOf,
  name,
  originBox,
  ownPath,
  paragraph,
  plain,
  scopeList,
} from './parts.ts';
import type { PageStrings } from './strings-en.ts';
import type { PageView } from './view.ts';

type WayView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

const LOOK_SECONDS = 5;

/** Leads to another origin. Throws if the URL is not plain http(s), or leads elsewhere than the page says. */
export function continueTemplate(view: WayView<'continue'>, strings: PageStrings): Template {
  const url = new URL(URL.canParse(view.url) ? view.url : 'about:blank');
  // The error contains nothing of the URL, which may be a bearer link.
  if (!/^https?:$/u.test(url.protocol)) throw new Error('a continue page leads to http or https');
  if (url.username !== '' || url.password !== '')
    throw new Error('a continue page carries no user information');
  if (url.origin !== view.origin) throw new Error('a continue page leads to another origin than it says');
  const { title, lead, link } = strings.continue;
  return {
    status: 200,
    title: title(plain(url.host)),
    icon: 'onward',
    refresh: { seconds: 0, url: url.href },
    body: html`<p class="lead">${lead} ${originBox(url.origin)}</p>
${actions(html`<a class="button" href="${url.href}">${link(plain(url.host))}</a>`)}`,
  };
}

/** Says that the provider has not reported yet. */
export function waitingTemplate(view: WayView<'waiting'>, { waiting }: PageStrings): Template {
  return {
    status: 200,
    title: plain(waiting.title),
    icon: 'turning',
    refresh: { seconds: LOOK_SECONDS, url: ownPath(view.again) },
    body: html`<p class="lead" role="status">${waiting.lead}</p>
${actions(buttonLink(view.again, waiting.look))}
${paragraph(waiting.close, 'quiet')}`,
  };
}

/** Says that the account is connected. */
export function doneTemplate(view: WayView<'done'>, strings: PageStrings): Template {
  const { done, common } = strings;
  const { service, elicitationId } = view;
  const withheld = view.withheldScopes ?? [];
  const origins = (view.tell ?? []).filter(hostOf);
  return {
    status: 200,
    title: service === undefined ? plain(done.titlePlain) : done.title(plain(service)),
    ...(service !== undefined && { heading: done.title(name(service)) }),
    icon: 'good',
    ...(elicitationId !== undefined && origins.length > 0 && { tell: { elicitationId, origins } }),
    body: html`${paragraph(leadOf(view, strings), 'lead')}
${
  withheld.length === 0
    ? undefined
    : html`${paragraph(done.withheld)}
${scopeList(withheld, 'below')}
${paragraph(done.withheldNext)}`
}
${paragraph(common.close)}
${view.hasAccountsPage === true ? accountsLink(strings) : undefined}`,
  };
}

function leadOf({ kept, service }: WayView<'done'>, { done }: PageStrings) {
  if (kept === undefined) return done.lead;
  return service === undefined ? done.keptPlain : done.kept(name(service));
}
