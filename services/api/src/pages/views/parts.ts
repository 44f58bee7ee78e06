import { FORM_FIELDS, type FormTarget } from '../kit/fields.ts';
import { type Html, html } from '../kit/html.ts';

/** Text as markup without elements, for places that allow none. */
export function plain(text: string): Html {
  return html`${text}`;
}

/** A name from outside, isolated so that its direction of writing does not affect the sentence around it. */
export function name(text: string): Html {
  return html`<bdi class="name">${text}</bdi>`;
}

/** A technical text: an id, an error code, a scope. */
export function code(text: string): Html {
  return html`<code dir="ltr">${text}</code>`;
}

/** A paragraph. */
export function paragraph(content: Html | string, className = ''): Html {
  return className === '' ? html`<p>${content}</p>` : html`<p class="${className}">${content}</p>`;
}

/** An origin whose host is emphasized. */
export function originBox(origin: string): Html {
  const host = hostOf(origin);
  const scheme = host === undefined ? '' : origin.slice(0, -host.length);
  return html`<span class="origin" dir="ltr">${scheme}<strong>${host ?? origin}</strong></span>`;
}

/** The host of an origin, with its port; undefined if the text is not an origin as browsers write it. */
export function hostOf(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.origin === origin ? url.host : undefined;
}

/** True if a host contains letters beyond ASCII, some of which look like others. */
export function looksLikeAnother(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  return new URL(origin).hostname.split('.').some((label) => label.startsWith('xn--'));
}

/** Terms and their values; undefined rows are omitted. */
export function facts(rows: readonly (readonly [string, Html] | undefined)[]): Html | undefined {
  const shown = rows.filter((row) => row !== undefined);
  if (shown.length === 0) return undefined;
  return html`<dl class="facts">${shown.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Permissions by their technical names. */
export function scopeList(scopes: readonly string[], className = ''): Html {
  return html`<ul class="scopes ${className}">${scopes.map((scope) => html`<li>${code(scope)}</li>`)}</ul>`;
}

/** A form that posts to `target`. With an `id`, a button outside the form can submit it. */
export function form(target: FormTarget, content: Html, id?: string): Html {
  // Without autocomplete=off, some browsers restore an old token in the field when the page is reloaded.
  return html`<form method="post" action="${ownPath(target.action)}" autocomplete="off"${id === undefined ? undefined : html` id="${id}"`}>
<input type="hidden" name="${FORM_FIELDS.csrf}" value="${target.csrf}">
${content}</form>`;
}

/** A form that consists of a button. */
export function buttonForm(target: FormTarget, label: Html | string, className = ''): Html {
  return form(target, html`<button class="${className}">${label}</button>`);
}

/** The row of buttons and links. */
export function actions(...choices: readonly Html[]): Html {
  return html`<div class="actions">${choices}</div>`;
}

/** A link to a hosted page that looks like a button. */
export function buttonLink(path: string, label: Html | string, className = ''): Html {
  return html`<a class="button${className === '' ? '' : ` ${className}`}" href="${ownPath(path)}">${label}</a>`;
}

/** A path on Parley's own origin. Throws for text that could lead elsewhere. */
export function ownPath(path: string): string {
  if (!/^\/(?![/\\])[\u0021-\u007e]*$/u.test(path))
    throw new Error('a page leads to paths of its own origin only');
  return path;
}
