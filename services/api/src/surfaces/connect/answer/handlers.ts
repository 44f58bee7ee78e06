import type { Row } from '@parley/shared/domain/elicitations/row';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import type { Fault } from '@parley/shared/domain/forms/fault';
import type { FormSchema } from '@parley/shared/domain/forms/schema';
import { bucketOfElicitationId } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { CallLimits } from '../../../http/limits.ts';
import { readForm } from '../handlers/form.ts';
import type { PageDeps, PageParts } from '../handlers/parts.ts';
import { counted } from '../handlers/sign-in.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../handlers/visit.ts';
import { isOnOurPage } from '../own-pages.ts';
import { controlName, initialValues, type ShownField } from '../pages/answer/controls.ts';
import { FORM_FIELDS } from '../pages/fields.ts';
import type { ConnectView } from '../pages/view.ts';
import type { AnswerLinks } from './links.ts';
import { answerPath } from './page-path.ts';
import { readPostedForm } from './posted-form.ts';

export interface AnswerDeps extends PageDeps {
  readonly engine: Pick<Engine, 'answer'>;
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly links: AnswerLinks;
  /** An answer counts as if the owner gave it over /v1. */
  readonly callLimits: Pick<CallLimits, 'call' | 'answer'>;
}

/** What the routes of the answer page share. */
export type AnswerParts = AnswerDeps & PageParts;

/** The surface of answers that are given by a link. */
const LINK_SURFACE = 'answer-link';

interface OpenQuestion {
  readonly row: Row;
  readonly now: number;
}

type Found = OpenQuestion | { readonly view: ConnectView };

/** `GET /auth/answer/:id`: the question, for the browser that opened its link; else the page that opens it. Reads only. */
export async function showQuestion(parts: AnswerParts, visit: Visit): Promise<PageReply> {
  const found = await findQuestion(parts, visit);
  return page('view' in found ? found.view : questionView(visit, found));
}

/** `POST /auth/answer/:id/open`: the token of the link. The first browser that sends it gets the question. */
export async function openLink(parts: AnswerParts, visit: Visit): Promise<PageReply> {
  const id = visit.param;
  const form = await readForm(parts, visit, answerPath(id));
  if ('view' in form) return page(form.view);
  if (bucketOfElicitationId(id) === undefined) return page({ page: 'not-found' });
  const { row, now } = await parts.elicitations.read(id);
  const token = tokenIn(single(form.fields, FORM_FIELDS.token) ?? '');
  const isOpened = row !== undefined && (await parts.links.open(id, token, { browser: visit.browser, now }));
  if (!isOpened) return page((await counted(parts, visit)) ?? { page: 'answer-spent' });
  parts.onEvent({ type: 'link', change: 'opened', elicitationId: id, tenant: row.definition.tenant });
  return { type: 'moved', path: answerPath(id) };
}

/** `POST /auth/answer/:id/accept`: the answer, or consent to open the address of the question. */
export async function acceptQuestion(parts: AnswerParts, visit: Visit): Promise<PageReply> {
  const entered = await enter(parts, visit);
  if ('view' in entered) return page(entered.view);
  const { question, fields } = entered;
  const { mode, requestedSchema, url } = question.row.definition;
  if (mode === 'url') {
    const refusal = await respond(parts, question.row, { action: 'accept' });
    return page(refusal ?? { page: 'continue', url: url ?? '', origin: new URL(url ?? '').origin });
  }
  const schema = requestedSchema ?? { type: 'object', properties: {} };
  const read = readPostedForm(schema, fields);
  if (!read.ok) return page(questionView(visit, question, { fields, faults: read.faults }));
  const refusal = await respond(parts, question.row, { action: 'accept', content: read.content });
  return page(refusal ?? { page: 'answered' });
}

/** `POST /auth/answer/:id/decline`: an explicit no. */
export async function declineQuestion(parts: AnswerParts, visit: Visit): Promise<PageReply> {
  const entered = await enter(parts, visit);
  if ('view' in entered) return page(entered.view);
  const { row } = entered.question;
  const refusal = await respond(parts, row, { action: 'decline' });
  if (refusal !== undefined) return page(refusal);
  parts.onEvent({ type: 'declined', elicitationId: row.id, tenant: row.definition.tenant });
  return page({ page: 'declined' });
}

/** The form of a browser that may answer, and the question; the page for all others. Throws `rate_limited`. */
async function enter(
  parts: AnswerParts,
  visit: Visit,
): Promise<
  { readonly question: OpenQuestion; readonly fields: URLSearchParams } | { readonly view: ConnectView }
> {
  const form = await readForm(parts, visit, answerPath(visit.param));
  if ('view' in form) return form;
  const found = await findQuestion(parts, visit);
  if ('view' in found) return found;
  const { tenant, userId } = found.row.definition;
  await parts.callLimits.call({ kind: 'user', tenant, userId }, true);
  await parts.callLimits.answer({ tenant, userId }, found.row.id);
  return { question: found, fields: form.fields };
}

/** The open question of this page. Nothing is read for a browser that has not opened its link. */
async function findQuestion(parts: AnswerParts, { param: id, browser }: Visit): Promise<Found> {
  if (bucketOfElicitationId(id) === undefined) return { view: { page: 'not-found' } };
  if (!(await parts.links.isOpen(id, browser)))
    return { view: { page: 'answer-entry', enter: buildFormTarget(browser, `${answerPath(id)}/open`) } };
  const { row, now } = await parts.elicitations.read(id);
  if (row === undefined || isOnOurPage(parts.publicUrl, row)) return { view: { page: 'not-found' } };
  if (isTerminal(row.status)) return { view: endedView(row.status, row.settlement?.surface) };
  return now >= row.expiresAt ? { view: { page: 'expired' } } : { row, now };
}

/** Answers as the owner. Returns the page to show when the question did not take the answer. */
async function respond(
  { engine }: AnswerParts,
  { id, definition }: Row,
  response: Parameters<Engine['answer']>[0]['response'],
): Promise<ConnectView | undefined> {
  const { tenant, userId } = definition;
  try {
    await engine.answer({ caller: { kind: 'user', tenant, userId }, id, response, surface: LINK_SURFACE });
    return undefined;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return { page: 'not-found' };
    if (isParleyError(error, 'expired')) return { page: 'expired' };
    if (isParleyError(error, 'already_settled')) return { page: 'settled' };
    throw error;
  }
}

/** The page of a question that has ended. It claims an answer only where one was given by the link. */
function endedView(status: Row['status'], surface: string | undefined): ConnectView {
  switch (status) {
    case 'accepted':
      return { page: surface === LINK_SURFACE ? 'answered' : 'settled' };
    case 'declined':
    case 'expired':
      return { page: status };
    default:
      return { page: 'settled' };
  }
}

/** What a person typed, and what is wrong with it. */
interface Typed {
  readonly fields: URLSearchParams;
  readonly faults: ReadonlyMap<string, Fault>;
}

function questionView({ browser }: Visit, { row, now }: OpenQuestion, typed?: Typed): ConnectView {
  const { message, title, description, url, requestedSchema, context, mode } = row.definition;
  const { agent } = context;
  return {
    page: 'answer',
    asking: { message, ...(typeof agent === 'string' && agent.trim() !== '' && { agent }) },
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    fields: requestedSchema === undefined ? [] : shownFields(requestedSchema, typed),
    ...(mode === 'url' && url !== undefined && { origin: new URL(url).origin }),
    leftMs: row.expiresAt - now,
    proceed: buildFormTarget(browser, `${answerPath(row.id)}/accept`),
    decline: buildFormTarget(browser, `${answerPath(row.id)}/decline`),
  };
}

function shownFields({ properties, required }: FormSchema, typed?: Typed): ShownField[] {
  return Object.entries(properties).map(([name, schema], at) => {
    const fault = typed?.faults.get(name);
    return {
      at,
      name,
      schema,
      isRequired: required?.includes(name) === true,
      values: typed === undefined ? initialValues(schema) : typed.fields.getAll(controlName(at)),
      ...(fault !== undefined && { fault }),
    };
  });
}

/** The token in what was posted: a person without scripts may paste the whole link. */
function tokenIn(text: string): string {
  return text.slice(text.lastIndexOf('#') + 1).trim();
}
