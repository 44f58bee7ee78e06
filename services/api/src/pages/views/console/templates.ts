import { html } from '../../kit/html.ts';
import type { Template } from '../../kit/layout.ts';
import { actions, buttonForm, name, paragraph, plain } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { PageView } from '../view.ts';

/** The page for a person who has signed in without a role in the console. */
export function noRoleTemplate(
  view: Extract<PageView, { page: 'no-role' }>,
  { console: { noRole } }: PageStrings,
): Template {
  return {
    status: 403,
    title: plain(noRole.title),
    icon: 'stop',
    body: html`${paragraph(noRole.what(name(view.person)), 'lead')}
${paragraph(noRole.next)}
${actions(buttonForm(view.signIn, noRole.another))}`,
  };
}
