import { ParleyClientError } from '@parley/core';
import { isListedType, LISTED_KINDS } from '@parley/core/domain/forms/listed-kinds';
import { isRecord } from '@parley/core/domain/plain-record';
import type { OptionalField } from './asks.ts';

/** A field in the form in which agents list it. */
export interface ListedField {
  readonly name: string;
  readonly prompt?: string;
  /** `text`, `choice`, `multi_choice`, `number`, `date`, `confirmation`; also `confirm`, `boolean`, `string`, `select`. */
  readonly type?: string;
  readonly options?: readonly string[];
  readonly required?: boolean;
}

/**
 * The fields of a form from a list of `{name, prompt, type, options}`. Throws `invalid_request` for a type that no form
 * can carry. For a secret, use the kind `secret`.
 *
 * @example
 * const fields = fieldsOfList([{ name: 'city', prompt: 'Which city?', type: 'choice', options: ['Bern', 'Basel'] }]);
 * await elicitor.ask({ kind: 'form', message: 'Where to?', fields });
 */
export function fieldsOfList(list: readonly unknown[]): Readonly<Record<string, OptionalField>> {
  return Object.fromEntries(list.map((item, at) => [nameOf(item, at), fieldOf(item as ListedField)]));
}

function nameOf(item: unknown, at: number): string {
  if (isRecord(item) && typeof item.name === 'string' && item.name !== '') return item.name;
  throw new ParleyClientError('invalid_request', `fields.${at}: needs a name.`);
}

function fieldOf({ name, prompt, type = 'text', options, required = true }: ListedField): OptionalField {
  const kind = isListedType(type) ? LISTED_KINDS[type] : undefined;
  if (kind === undefined || kind === 'secret') {
    const hint = kind === undefined ? 'is not known' : 'no form may carry a secret; ask for it by itself';
    throw new ParleyClientError('invalid_request', `${name}: the type ${type}: ${hint}.`);
  }
  const base = { ...(prompt !== undefined && { title: prompt }), ...(!required && { optional: true }) };
  if (kind === 'choice' || kind === 'multi_choice') return { ...base, kind, options: options ?? [] };
  return { ...base, kind };
}
