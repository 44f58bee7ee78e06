import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { own } from '@parley/core/domain/plain-record';
import { readable } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import { inspectUrl } from '../address.ts';
import type { Elicitation } from '../elicitation.ts';
import { plainText } from '../form/control-frame.ts';
import type { Strings } from '../strings/strings.ts';
import { formActions, urlActions } from './actions.ts';
import { headView } from './head.ts';
import { noteView } from './note.ts';
import type { CardProps, QuestionProps } from './props.ts';
import { type CardState, isOver } from './state.ts';
import { addressView } from './url-address.ts';

/** A message with more characters gets a scrolling box, so that the buttons stay near. */
const LONG = 1_200;

/** The whole card: an open question, a settled one, or a sentence instead of a question. */
export function cardView(props: CardProps): TemplateResult {
  const { view, state, strings } = props;
  return html`
    <div class="card" part="card" role="group" aria-labelledby="title" aria-describedby=${view ? 'message description' : nothing} aria-busy=${state === 'loading'}>
      ${headView(props, endOf(view, state, strings))}
      ${view ? messageView(view) : nothing}
      ${view ? (isOver(state) ? answerView(view, strings) : askView({ ...props, view })) : nothing}
    </div>
  `;
}

/** The sentence instead of a question, or about its end; undefined while the question is open. */
export function endOf(view: Elicitation | undefined, state: CardState, strings: Strings): string | undefined {
  if (state === 'gone') return strings.gone;
  if (view === undefined) return state === 'offline' ? strings.offline : strings.loading;
  const { status, mode, reason } = view;
  if (status === 'pending' || status === 'opened') return undefined;
  return isOver(state) ? strings.ended({ status, mode, here: state !== 'elsewhere', reason }) : undefined;
}

/** The message and the description as plain text with line breaks, without links. */
function messageView({ message, description }: Elicitation): TemplateResult {
  const isLong = message.length > LONG;
  return html`
    <div id="message" class="words ${isLong ? 'long' : ''}" part="message" dir="auto" tabindex=${isLong ? 0 : nothing} role=${isLong ? 'group' : nothing} aria-labelledby=${isLong ? 'title' : nothing}>${readable(message)}</div>
    ${description ? html`<div id="description" class="words quiet" dir="auto">${readable(description)}</div>` : nothing}
  `;
}

/** The answer, unless it is sensitive. */
function answerView({ content, requestedSchema, sensitive }: Elicitation, strings: Strings) {
  if (!content || sensitive) return nothing;
  return controlsOf(requestedSchema).map((field) => {
    const value = own(content, field.name);
    return value === undefined
      ? nothing
      : html`<p class="words" part="answer">${plainText(field.label)}: ${plainText(describeValue(field, value, strings))}</p>`;
  });
}

/** An answered value in the words of the form. */
function describeValue({ choices }: FormControl, value: unknown, { yes, no }: Strings): string {
  if (typeof value === 'boolean') return value ? yes : no;
  return [value]
    .flat()
    .map((one) => choices.find((choice) => choice.value === one)?.label ?? String(one))
    .join(', ');
}

function askView(props: QuestionProps): TemplateResult {
  const { view, state, strings, refusal, actions } = props;
  const { url = '', sensitive } = view;
  const inspected = view.mode === 'url' && inspectUrl(url);
  return html`
    ${sensitive ? html`<p class="quiet">${strings.sensitive}</p>` : nothing}
    ${view.status === 'opened' && inspected ? noteView('', 'turn', [strings.waitingThere, strings.waitingThereHint]) : nothing}
    ${inspected ? addressView(inspected, url, strings, actions.copy) : props.fields}
    ${
      refusal
        ? noteView('danger', 'alert', [
            strings.refusal(refusal.code, refusal.retryAfterSeconds),
            ...props.strayErrors.map(strings.serverFault),
          ])
        : nothing
    }
    ${state === 'offline' ? noteView('warn', 'alert', [strings.offline]) : nothing}
    ${inspected ? urlActions(props, inspected.kind === 'address' ? inspected.href : undefined) : formActions(props)}
  `;
}
