/**
 * The one rule of how a question gets to its person; every surface and agent uses it, so that no surface decides for itself.
 * Sending the question is not here.
 */

import type { Mode } from '@parley/core/domain/elicitations/status';
import { isRecord, own } from '@parley/core/domain/plain-record';
import type { Support } from './runs/run.ts';

/**
 * How a question gets to its person. `client`: their client displays it. `page`: their client opens the hosted page, or tells
 * its address; there the owner signs in and answers. `notify`: a channel such as Slack delivers it, or a link to its page.
 * `notice`: nobody is asked, and the client is told what it cannot display. `undeliverable`: nobody is asked, and the asker
 * continues with its own default or without an answer.
 */
const REACHES = ['client', 'page', 'notify', 'notice', 'undeliverable'] as const;
export type Reach = (typeof REACHES)[number];

/** The kinds of form fields, by what a client needs to display them. The value of a multi select is a list. */
export const FIELD_KINDS = ['text', 'number', 'integer', 'boolean', 'select', 'multi_select'] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** The properties of a question that decide its reach. `requestedSchema` may be unchecked. */
export interface QuestionShape {
  readonly mode: Mode;
  readonly requestedSchema?: unknown;
  readonly sensitive?: boolean | undefined;
  /** The page of a url question; absent for Parley's connect page. */
  readonly url?: string | undefined;
}

/** A question with a page of the asker, as an example of its kind. */
export const PAGE_OF_ASKER: QuestionShape = { mode: 'url', url: 'https://asker.invalid/' };

/** What a question requires of the place that displays it. */
export interface QuestionNeeds {
  readonly mode: Mode;
  /** The distinct kinds of its fields; empty in url mode. */
  readonly fieldKinds: readonly FieldKind[];
  /** True when the answer is kept from the model. A secret is always a url question and needs no flag. */
  readonly sensitive: boolean;
  /** True for a url question that opens Parley's connect page. */
  readonly connects: boolean;
}

/** How a person can be reached: what their client declared for the turn, and what the deployment offers as well. */
export interface Reachability
  extends Pick<Support, 'form' | 'url' | 'fieldKinds' | 'sensitiveForms' | 'tellsPages' | 'unattended'> {
  /** True when the deployment has a hosted answer page on which the owner signs in. */
  readonly page: boolean;
  /** True when a channel can notify this person. */
  readonly notify: boolean;
}

/**
 * Decides how a question gets to a person; total and pure. A url question never becomes a form, so a secret stays in url mode.
 * A sensitive form is never answered in a channel, nor in a client that must not take it; there it needs the hosted page. The
 * table is in docs/reach.md.
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
 * The reachability of a person whose client did not display a form within its surface's time limit. The page, a channel or the
 * asker's default remain.
 */
export function afterUnshownForm(person: Reachability): Reachability {
  return { ...person, form: false };
}

/** True when the person is asked: by their client, on a page, or through a channel. */
export function isAsked(reach: Reach): boolean {
  return reach === 'client' || reach === 'page' || reach === 'notify';
}

/** The needs of a question. Fields of unknown kinds are omitted. */
export function needsOf(question: QuestionShape): QuestionNeeds {
  const { mode, requestedSchema, sensitive = false, url } = question;
  const fieldKinds = mode === 'form' ? fieldKindsOf(requestedSchema) : [];
  return { mode, fieldKinds, sensitive, connects: mode === 'url' && url === undefined };
}

/** True when the client leads the person to a hosted page. A connect page exists wherever credentials can be asked for. */
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
