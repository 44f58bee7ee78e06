/**
 * The handlers of a question's answer page, for every entrance. Who may enter is decided in `by-link.ts` and `by-owner.ts`, the
 * HTML is in `pages/views`.
 */

import { askerOf } from '@parley/core/domain/elicitations/asker';
import { isParleyError } from '@parley/core/domain/errors';
import { controlsOf } from '@parley/core/domain/forms/controls';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import { answerPath } from '../../accounts/own-pages.ts';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import { countFailure } from '../serving/attempts.ts';
import { readForm } from '../serving/form.ts';
import type { PageParts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, type Visit } from '../serving/visit.ts';
import { controlName, initialValues, type ShownField } from '../views/answer/controls.ts';
import type { AnsweredAs, ControlFault } from '../views/answer/strings.ts';
import type { PageView } from '../views/view.ts';
import { readPostedForm } from './posted-form.ts';

/** The dependencies of answer pages. `Use` lists the methods of the engine that they use. */
export interface AnsweringParts<Use extends keyof Engine> extends PageParts {
  readonly engine: Pick<Engine, Use>;
  /** An answer counts against the same limits as an answer over /v1. */
  readonly callLimits: Pick<CallLimits, 'call' | 'answer'>;
}

/** The dependencies of the answer page, for every entrance. */
export type QuestionParts = AnsweringParts<'answer'>;

/** An open question that is shown to a browser which may answer. */
interface OpenQuestion {
  readonly row: Row;
  readonly now: number;
  /** The owner's name from the sign-in; absent for a browser that came through a link. */
  readonly person?: string;
}

/** A question; or the page for a browser that may not see it. */
export type Found =
  | OpenQuestion
  | {
      readonly view: PageView;
      /** Present if a person other than the owner is signed in. */
      readonly mismatch?: true;
    };

/** How a browser reaches a question: through its link, or through the owner's sign-in. */
export interface Entrance<Parts extends QuestionParts> {
  /** The surface that is recorded with the answer. */
  readonly surface: string;
  /** Finds what this visitor may see, without writing anything. */
  find(parts: Parts, visit: Visit): Promise<Found>;
  /** The path below which the question's forms are. */
  pathOf(elicitationId: string): string;
}

type Handle<Parts> = (parts: Parts, visit: Visit) => Promise<PageReply>;

/** The handlers for the browsers of one entrance. */
interface QuestionHandlers<Parts> {
  /** Shows the result of the entrance's `find`. */
  show(visit: Visit, found: Found): PageReply;
  /** Answers, or consents to open the question's address. */
  readonly accept: Handle<Parts>;
  /** Declines explicitly. */
  readonly decline: Handle<Parts>;
}

/** Makes the handlers for one entrance. */
export function questionHandlers<Parts extends QuestionParts>(
  entrance: Entrance<Parts>,
): QuestionHandlers<Parts> {
  return {
    show: (visit, found) => page('view' in found ? found.view : questionView(entrance, visit, found)),
    async accept(parts, visit) {
      const entered = await enter(entrance, parts, visit, 'answered');
      if ('view' in entered) return page(entered.view);
      const { question, fields } = entered;
      const { mode, requestedSchema, url } = question.row.definition;
      if (mode === 'url') {
        const refusal = await respond(entrance, parts, question.row, { action: 'accept' });
        return page(refusal ?? { page: 'continue', url: url ?? '', origin: new URL(url ?? '').origin });
      }
      const schema = requestedSchema ?? { type: 'object', properties: {} };
      const read = readPostedForm(schema, fields);
      if (!read.ok) return page(questionView(entrance, visit, question, { fields, faults: read.faults }));
      const response = { action: 'accept', content: read.content } as const;
      return page(
        (await respond(entrance, parts, question.row, response)) ?? {
          page: 'answer-ended',
          ended: 'answered',
        },
      );
    },
    async decline(parts, visit) {
      const entered = await enter(entrance, parts, visit, 'declined');
      if ('view' in entered) return page(entered.view);
      const { row } = entered.question;
      const refusal = await respond(entrance, parts, row, { action: 'decline' });
      if (refusal !== undefined) return page(refusal);
      parts.onEvent({ type: 'declined', elicitationId: row.id, tenant: row.definition.tenant });
      return page({ page: 'answer-ended', ended: 'declined' });
    },
  };
}

/**
 * The posted form and the question, for a browser that may answer; for all others, the page to show. `as` is how the form would
 * end the question. Throws `rate_limited`.
 */
async function enter<Parts extends QuestionParts>(
  entrance: Entrance<Parts>,
  parts: Parts,
  visit: Visit,
  as: AnsweredAs,
): Promise<
  { readonly question: OpenQuestion; readonly fields: URLSearchParams } | { readonly view: PageView }
> {
  const form = await readForm(parts, visit, answerPath(visit.param));
  if ('view' in form) return form;
  const found = await entrance.find(parts, visit);
  if ('view' in found) {
    const refusal = found.mismatch === true ? await countFailure(parts, visit) : undefined;
    return { view: refusal ?? asLate(found.view, as) };
  }
  const { tenant, userId } = found.row.definition;
  await parts.callLimits.call({ kind: 'user', tenant, userId }, true);
  await parts.callLimits.answer({ tenant, userId }, found.row.id);
  return { question: found, fields: form.fields };
}

/** Adds to the page that the person's answer was not recorded, if the question had ended in another way. */
function asLate(view: PageView, as: AnsweredAs): PageView {
  return view.page === 'answer-ended' && view.ended !== as ? { ...view, late: true } : view;
}

/** Answers as the owner. Returns the page to show if the answer was not accepted. */
async function respond(
  { surface }: Pick<Entrance<never>, 'surface'>,
  { engine }: QuestionParts,
  { id, definition }: Row,
  response: Parameters<Engine['answer']>[0]['response'],
): Promise<PageView | undefined> {
  const { tenant, userId } = definition;
  try {
    await engine.answer({ caller: { kind: 'user', tenant, userId }, id, response, surface });
    return undefined;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return { page: 'not-found' };
    if (isParleyError(error, 'expired')) return { page: 'answer-ended', ended: 'expired', late: true };
    if (isParleyError(error, 'already_settled'))
      return { page: 'answer-ended', ended: 'settled', late: true };
    throw error;
  }
}

/** The page of a question that has ended. It says "answered" only if the answer came through this entrance. */
export function endedView(
  { status, settlement }: Row,
  { surface }: Pick<Entrance<never>, 'surface'>,
): PageView {
  const ended = (as: AnsweredAs): PageView => ({ page: 'answer-ended', ended: as });
  switch (status) {
    case 'accepted':
      return ended(settlement?.surface === surface ? 'answered' : 'settled');
    case 'declined':
    case 'expired':
      return ended(status);
    case 'pending':
    case 'opened':
      return ended('expired');
    default:
      return ended('settled');
  }
}

/** The text that a person typed, and its faults. */
interface Typed {
  readonly fields: URLSearchParams;
  readonly faults: ReadonlyMap<string, ControlFault>;
}

function questionView(
  { pathOf }: Pick<Entrance<never>, 'pathOf'>,
  { browser }: Visit,
  { row, now, person }: OpenQuestion,
  typed?: Typed,
): PageView {
  const { message, title, description, url, requestedSchema, mode, risk } = row.definition;
  return {
    page: 'answer',
    asking: { message, agent: askerOf(row.definition) },
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(person !== undefined && { person }),
    ...(risk !== undefined && { risk }),
    fields: shownFields(requestedSchema, typed),
    ...(mode === 'url' && url !== undefined && { origin: new URL(url).origin }),
    leftMs: row.expiresAt - now,
    proceed: buildFormTarget(browser, `${pathOf(row.id)}/accept`),
    decline: buildFormTarget(browser, `${pathOf(row.id)}/decline`),
  };
}

function shownFields(requestedSchema: unknown, typed?: Typed): ShownField[] {
  return controlsOf(requestedSchema).map((control, at) => {
    const fault = typed?.faults.get(control.name);
    return {
      at,
      control,
      values: typed === undefined ? initialValues(control) : typed.fields.getAll(controlName(at)),
      ...(fault !== undefined && { fault }),
    };
  });
}
