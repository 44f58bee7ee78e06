/**
 * Renders one call of an approval card, open or ended. The state of the call is in `model.ts`, and the card around it in
 * `card.ts`.
 */

import { titleOfServer } from '@parley/core/domain/approvals/tool-title';
import { readable } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import type { Approval } from '../approval.ts';
import { icon } from '../card/icons.ts';
import { noteView } from '../card/note.ts';
import { argumentsView, foldView } from './arguments.ts';
import type { CallModel } from './model.ts';
import { type CardStrings, endOfCall, toolNameOf } from './texts.ts';

/** What a person can do with one call. */
export interface CallActions {
  approve(call: CallModel): void;
  open(call: CallModel, panel: CallModel['panel']): void;
  approveEdited(call: CallModel): void;
  deny(call: CallModel): void;
}

/** Everything from which the view of one call is rendered. */
interface CallProps {
  readonly call: CallModel;
  /** The index of the call in the card, used in ids. */
  readonly at: number;
  readonly strings: CardStrings;
  readonly actions: CallActions;
  /** The heading level of the call in a card with several calls; 0 for no heading. */
  readonly headingLevel: number;
  /** True if the call's approving button has been in view for long enough. */
  readonly isReady: boolean;
  /** True if another call of the card is being edited. */
  readonly isEditTaken: boolean;
  /** The form of the arguments while they are edited; `strayErrors` belong to none of its fields. */
  readonly fields: TemplateResult | undefined;
  readonly strayErrors: readonly string[];
  /** The names of arguments that the form does not change. */
  readonly kept: readonly string[];
}

/** One call: what it does, with which arguments, and how to decide; or how it ended. */
export function callView(props: CallProps): TemplateResult | typeof nothing {
  const { call, at, headingLevel, strings } = props;
  const { view, state } = call;
  // The card's heading says why there is nothing to show.
  if (view === undefined) return nothing;
  return html`
    <div class="call" part="call" data-id=${call.id} data-state=${state} role=${headingLevel ? 'group' : nothing} aria-labelledby=${headingLevel ? `call-${at}` : nothing}>
      ${
        headingLevel
          ? html`<div id="call-${at}" class="name" role="heading" aria-level=${headingLevel} tabindex="-1"><bdi>${toolNameOf(view)}</bdi></div>`
          : nothing
      }
      ${toolView(view, call.isPending, strings)}
      ${call.isPending ? pendingView(props, view) : endView(props, view)}
    </div>
  `;
}

/** The server, the name that the model uses, and the tool's abilities. */
function toolView({ tool, risk }: Approval, isPending: boolean, strings: CardStrings): TemplateResult {
  const hintView = (text: string, isGood: boolean) =>
    html`<li class=${isGood ? '' : 'warn'}>${icon(isGood ? 'done' : 'alert')}${text}</li>`;
  return html`
    <p class="quiet" part="tool"><bdi>${strings.toolOf(readable(titleOfServer(tool)))}</bdi> · <code>${readable(tool.name)}</code></p>
    ${
      isPending
        ? html`<ul class="hints" part="hints">${risk && hintView(strings.risk(risk), risk === 'low')}${strings
            .toolHints(tool.hints)
            .map((text) => hintView(text, tool.hints?.readOnly === true))}</ul>`
        : nothing
    }
  `;
}

function pendingView(props: CallProps, view: Approval): TemplateResult {
  const { call, strings, fields, kept, strayErrors } = props;
  const { panel, refusal, state } = call;
  return html`
    ${panel === 'edit' ? fields : argumentsView(view.arguments, view.masked ?? [], strings)}
    ${panel === 'edit' && kept.length > 0 ? html`<p class="quiet">${strings.notEditable(kept.map(readable).join(', '))}</p>` : nothing}
    ${panel === 'deny' ? reasonView(props) : nothing}
    ${panel === 'none' ? rememberView(props, view) : nothing}
    ${
      refusal
        ? noteView('danger', 'alert', [
            strings.approvalRefusal(refusal.code, refusal.retryAfterSeconds),
            ...strayErrors.map(strings.serverFault),
          ])
        : nothing
    }
    ${state === 'offline' ? noteView('warn', 'alert', [strings.approvalOffline]) : nothing}
    ${buttonsView(props, view)}
  `;
}

function reasonView({ call, at, strings }: CallProps): TemplateResult {
  return html`<div class="field">
    <label class="name" for="reason-${at}">${strings.denyReason}</label>
    <textarea id="reason-${at}" class="entry" part="reason" rows="2" dir="auto" maxlength="2000" .value=${call.reason}
      @input=${(event: Event) => {
        call.reason = (event.target as HTMLTextAreaElement).value;
      }}></textarea>
  </div>`;
}

function rememberView({ call, at, strings }: CallProps, { remember }: Approval) {
  if (remember === undefined) return nothing;
  return html`<div class="remember">
    <label class="choice" part="remember"><input type="checkbox" .checked=${call.remember} aria-describedby="remember-${at}"
      @change=${(event: Event) => {
        call.remember = (event.target as HTMLInputElement).checked;
      }}>
    <span>${strings.rememberFor(remember)}</span></label>
    <p class="help" id="remember-${at}">${strings.rememberHint}</p>
  </div>`;
}

function buttonsView({ call, strings, actions, isReady, isEditTaken }: CallProps, view: Approval) {
  const { panel } = call;
  const isSending = call.state === 'sending';
  const cannotApprove = isSending || !isReady;
  const back = button('cancel', strings.back, isSending, () => actions.open(call, 'none'));
  if (panel === 'deny') {
    return html`<div class="actions" part="actions">${button('deny', strings.deny, isSending, () => actions.deny(call))}${back}</div>`;
  }
  if (panel === 'edit') {
    const label = isSending ? strings.sending : strings.approveEdited;
    return html`<div class="actions" part="actions">${button('primary', label, cannotApprove, () => actions.approveEdited(call))}${back}</div>`;
  }
  return html`<div class="actions" part="actions">
    ${button('primary', isSending ? strings.sending : strings.approve, cannotApprove, () => actions.approve(call))}
    ${view.inputSchema === undefined ? nothing : button('edit', strings.editCall, isSending || isEditTaken, () => actions.open(call, 'edit'))}
    ${button('deny', strings.deny, isSending, () => actions.open(call, 'deny'))}
  </div>`;
}

/** How the call ended, and what was decided. */
function endView({ call, strings }: CallProps, view: Approval): TemplateResult {
  const { status, reason, remembered, editedArguments, masked = [] } = view;
  const title = editedArguments ? strings.editedTitle : strings.argumentsTitle;
  return html`
    <p class="end" part="status">${endOfCall(call, strings)}</p>
    ${status === 'denied' && reason ? html`<p class="words"><bdi>${strings.deniedBecause(readable(reason))}</bdi></p>` : nothing}
    ${remembered ? html`<p class="quiet">${strings.isRemembered}</p>` : nothing}
    ${foldView(title, false, argumentsView(editedArguments ?? view.arguments, masked, strings))}
  `;
}

/** A button. While busy it does nothing, but keeps its place and the focus. */
export function button(name: string, label: string, isBusy: boolean, onClick: () => void): TemplateResult {
  return html`<button class="button ${name}" part=${name} type="button" aria-disabled=${isBusy} @click=${onClick}>${label}</button>`;
}
