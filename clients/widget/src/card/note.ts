import { readable } from '@parley/core/domain/readable';
import { html, type TemplateResult } from 'lit';
import { type IconName, icon } from './icons.ts';

/** A notice. If there are several texts, the first is its heading. */
export function noteView(
  kind: 'danger' | 'warn' | '',
  name: IconName,
  texts: readonly string[],
  part = 'status',
): TemplateResult {
  return html`
    <div class="note ${kind}" part=${part}>
      ${icon(name)}
      <div>${texts.map((text, at) => html`<p dir="auto">${at === 0 && texts.length > 1 ? html`<b>${readable(text)}</b>` : readable(text)}</p>`)}</div>
    </div>
  `;
}
