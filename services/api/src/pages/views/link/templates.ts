import { html } from '../../kit/html.ts';
import type { Template } from '../../kit/layout.ts';
import { actions, buttonForm, facts, name, paragraph, plain } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { PageView } from '../view.ts';

type LinkView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

/** The account and the person, side by side, before they are linked. */
export function linkTemplate(view: LinkView<'link'>, { link }: PageStrings): Template {
  const service = name(view.service);
  return {
    status: 200,
    title: link.title(plain(view.service)),
    heading: link.title(service),
    icon: 'link',
    body: html`${paragraph(link.lead(service), 'lead')}
${facts([
  [link.account, name(view.account)],
  [link.person, name(view.person)],
])}
${paragraph(link.warning(service), 'box warn')}
${actions(buttonForm(view.proceed, link.proceed(plain(view.service))), buttonForm(view.signOut, link.signOut, 'plain'))}`,
  };
}

export function linkedTemplate(view: LinkView<'linked'>, { link: { linked } }: PageStrings): Template {
  return {
    status: 200,
    title: linked.title(plain(view.service)),
    heading: linked.title(name(view.service)),
    icon: 'good',
    body: html`${paragraph(linked.what(name(view.service)), 'lead')}
${paragraph(linked.next)}`,
  };
}

export function linkOtherTemplate(view: LinkView<'link-other'>, { link: { other } }: PageStrings): Template {
  return {
    status: 403,
    title: other.title(plain(view.service)),
    heading: other.title(name(view.service)),
    icon: 'stop',
    body: html`${paragraph(other.what(name(view.service)), 'lead')}
${paragraph(other.next(name(view.service)))}`,
  };
}
