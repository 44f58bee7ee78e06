import { ParleyClientError } from '@parley/core';
import { isRecord } from '@parley/shared/domain/plain-record';
import type { OptionalField } from './asks.ts';

/** A field as agents list it. */
export interface ListedField {
  readonly name: string;
  readonly prompt?: string;
  /** `text`, `choice`, `multi_choice`, `number`, `date`, `confirmation`; also `confirm`, `boolean`, `string`, `select`. */
  readonly type?: string;
  readonly options?: readonly string[];
  readonly required?: boolean;
}

const KIND_OF_TYPE: Readonly<Record<string, OptionalField['kind']>> = {
  text: 'text',
  string: 'text',
  choice: 'choice',
  select: 'choice',
  multi_choice: 'multi_choice',
  number: 'number',
  date: 'date',
  confirmation: 'confirmation',
  confirm: 'confirmation',
  boolean: 'confirmation',
};

/**
 * The fields of a form from a list of `{name, prompt, type, options}`. Throws `invalid_request` for a type that no form can
 * carry: ask for a secret with the kind `secret`.
 */
export function fieldsOfList(list: readonly unknown[]): Readonly<Record<string, OptionalField>> {
  return Object.fromEntries(list.map((item, at) => [nameOf(item, at), fieldOf(item as ListedField)]));
}

function nameOf(item: unknown, at: number): string {
  if (isRecord(item) && typeof item.name === 'string' && item.name !== '') return item.name;
  throw new ParleyClientError('invalid_request', `fields.${at}: needs a name.`);
}

function fieldOf({ name, prompt, type = 'text', options, required = true }: ListedField): OptionalField {
  const kind = Object.hasOwn(KIND_OF_TYPE, type) ? KIND_OF_TYPE[type] : undefined;
  if (kind === undefined) {
    const hint = /^(?:secret|password)$/.test(type)
      ? 'no form may carry a secret; ask for it by itself'
      : 'is not known';
    throw new ParleyClientError('invalid_request', `${name}: the type ${type}: ${hint}.`);
  }
  const base = { ...(prompt !== undefined && { title: prompt }), ...(!required && { optional: true }) };
  if (kind === 'choice' || kind === 'multi_choice') return { ...base, kind, options: options ?? [] };
  return { ...base, kind };
}
