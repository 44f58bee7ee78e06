import type { Mode } from '@parley/core/domain/elicitations/status';
import { isRecord, own } from '@parley/core/domain/plain-record';
import type { Support } from './runs/run.ts';

/**
 * How a question gets to its person now. `client`: their client shows it. `page`: their client opens the hosted page on
 * which the owner signs in and answers, or tells its address. `notify`: a channel such as Slack takes it, or a link to its page.
 * `notice`: nobody is asked, and the client is informed of what it cannot show. `undeliverable`: nobody is asked, and the
 * asker continues with its own default, or without an answer.
 */
const REACHES = ['client', 'page', 'notify', 'notice', 'undeliverable'] as const;
export type Reach = (typeof REACHES)[number];

/** The kinds of form fields, by what a client needs to show them. A multi select has a list as its value. */
export const FIELD_KINDS = ['text', 'number', 'integer', 'boolean', 'select', 'multi_select'] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** A question, as far as its reach depends on it. `requestedSchema` need not be checked yet. */
export interface QuestionShape {
  readonly mode: Mode;
  readonly requestedSchema?: unknown;
  readonly sensitive?: boolean | undefined;
  /** In url mode; absent for the connect page of Parley. */
  readonly url?: string | undefined;
}

/** A question with a page of its asker, whichever it is. */
export const PAGE_OF_ASKER: QuestionShape = { mode: 'url', url: 'https://asker.invalid/' };

/** What a question needs of the place that shows it. */
export interface QuestionNeeds {
  readonly mode: Mode;
  /** The kinds of its fields, each once; empty in url mode. */
  readonly fieldKinds: readonly FieldKind[];
  /** True when the answer is kept from the model. A secret is a url question and needs no flag. */
  readonly sensitive: boolean;
  /** True in url mode for the connect page of Parley. */
  readonly connects: boolean;
}

/** How a person can be reached now: what their client declared for the turn, and what the deployment offers in addition. */
export interface Reachability
  extends Pick<Support, 'form' | 'url' | 'fieldKinds' | 'sensitiveForms' | 'tellsPages' | 'unattended'> {
  /** True when the deployment has a hosted answer page on which the owner signs in. */
  readonly page: boolean;
  /** True when a channel can notify this person. */
  readonly notify: boolean;
}

/**
 * Decides how a question gets to a person; total and pure. A url question never becomes a form. A secret therefore stays
 * in url mode. A sensitive form is not shown by a client that must not take it, nor typed into a channel: there it needs
 * the hosted page. The table is in docs/reach.md.
 */
export function reachOf(question: QuestionNeeds, person: Reachability): Reach {
  const { mode, sensitive } = question;
  if (person.unattended !== true) {
    if (isShownByClient(question, person)) return 'client';
    if (isOnPage(question, person)) return 'page';
    if (person.notify && (mode === 'url' || !sensitive || person.page)) return 'notify';
  }
  return mode === 'url' ? 'notice' : 'undeliverable';
}

/**
 * The same person after their client did not show a form within the time that its surface gives it: the page, a channel
 * or the asker's default remain.
 */
export function afterUnshownForm(person: Reachability): Reachability {
  return { ...person, form: false };
}

/** True when the person is asked: by their client, on a page, or through a channel. */
export function isAsked(reach: Reach): boolean {
  return reach === 'client' || reach === 'page' || reach === 'notify';
}

/** What a question needs. A field of no known kind is left out. */
export function needsOf(question: QuestionShape): QuestionNeeds {
  const { mode, requestedSchema, sensitive = false, url } = question;
  const fieldKinds = mode === 'form' ? fieldKindsOf(requestedSchema) : [];
  return { mode, fieldKinds, sensitive, connects: mode === 'url' && url === undefined };
}

/** True when their client leads the person to a hosted page. The connect page is there wherever it can be asked for. */
function isOnPage({ mode, connects }: QuestionNeeds, { page, url, tellsPages }: Reachability): boolean {
  if (mode === 'form') return page && (url || tellsPages === true);
  return tellsPages === true && (page || connects);
}

function isShownByClient({ mode, fieldKinds, sensitive }: QuestionNeeds, client: Reachability): boolean {
  if (mode === 'url') return client.url;
  if (!client.form || (sensitive && client.sensitiveForms === false)) return false;
  const known = client.fieldKinds;
  return known === undefined || fieldKinds.every((kind) => known.includes(kind));
}

function fieldKindsOf(schema: unknown): FieldKind[] {
  const properties = isRecord(schema) ? own(schema, 'properties') : undefined;
  if (!isRecord(properties)) return [];
  const kinds = Object.values(properties).map((field) => (isRecord(field) ? fieldKindOf(field) : undefined));
  return [...new Set(kinds.filter((kind) => kind !== undefined))];
}

function fieldKindOf(field: Record<string, unknown>): FieldKind | undefined {
  const type = own(field, 'type');
  switch (type) {
    case 'string':
      return own(field, 'enum') === undefined && own(field, 'oneOf') === undefined ? 'text' : 'select';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    case 'array':
      return 'multi_select';
    default:
      return undefined;
  }
}
