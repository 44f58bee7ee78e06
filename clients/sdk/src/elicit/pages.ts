/**
 * Divides an ask into pages, each of which is a flat form that every protocol can carry. Mapping single fields is in
 * `flat-fields.ts`.
 */

import { ParleyClientError } from '@parley/core';
import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';
import { formOf, isStandardForm, type StandardForm } from '../standard-form.ts';
import type { FormSchemaInput } from '../typed-form.ts';
import type { Ask, FieldValue, FormAsk, FormStep } from './asks.ts';
import { type AnswerFault, type FlatFields, flatFieldsOf } from './flat-fields.ts';

/** The name of the field in a question with a single field. */
export const ANSWER_FIELD = 'answer';

/** What one page of an ask shows, and how its content is read. */
export interface Page {
  readonly title?: string;
  readonly message?: string;
  readonly schema: FormSchema;
  /** Returns false if the page is to be skipped. */
  isShown(answers: Readonly<Record<string, FieldValue>>): boolean;
  /** Checks the content of an accepted page against its schema and the asker's own rules. */
  read(content: unknown): Promise<PageReading>;
}

type PageReading =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>>; readonly whole?: unknown }
  | { readonly ok: false; readonly faults: readonly AnswerFault[] };

/**
 * The pages of an ask as flat schemas; undefined for a kind that no flat schema can carry, because a url is its own page and a
 * secret must not be in a form. Throws `invalid_request` for an ask that breaks the rules of the subset.
 */
export function pagesOf(ask: Ask): readonly Page[] | undefined {
  switch (ask.kind) {
    case 'secret':
    case 'url':
      return undefined;
    case 'form':
      return pagesOfForm(ask);
    case 'approval': {
      const fields = {
        decision: { kind: 'choice', title: 'Decision', options: APPROVAL_OPTIONS },
        reason: { kind: 'text', title: 'Reason', optional: true, maxLength: 1_000 },
      } as const;
      return [pageOfFields({ fields })];
    }
    default: {
      const { message: _message, ...field } = ask;
      return [pageOfFields({ fields: { [ANSWER_FIELD]: { ...field, title: ask.title ?? 'Answer' } } })];
    }
  }
}

const APPROVAL_OPTIONS = [
  { value: 'approved', title: 'Approve' },
  { value: 'denied', title: 'Deny' },
];

function pagesOfForm(ask: FormAsk): readonly Page[] {
  if (ask.schema !== undefined) return [pageOfSchema(ask.schema)];
  if (ask.steps !== undefined) return ask.steps.map(pageOfFields);
  return [pageOfFields({ fields: ask.fields })];
}

function pageOfFields({ fields, when, title, message }: FormStep): Page {
  const flat = flatFieldsOf(fields);
  const { properties, required } = flat;
  const schema = checked({ type: 'object', properties, required });
  return {
    ...(title !== undefined && { title }),
    ...(message !== undefined && { message }),
    schema,
    isShown: (answers) => when?.(answers) ?? true,
    read: async (content) => readFields(schema, flat, content),
  };
}

function readFields(schema: FormSchema, flat: FlatFields, content: unknown): PageReading {
  const answer = checkFormAnswer(schema, content);
  if (!answer.ok) return { ok: false, faults: answer.issues };
  const { values, faults } = flat.read(answer.content);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, values };
}

function pageOfSchema(given: FormSchemaInput | StandardForm): Page {
  const standard = isStandardForm(given) ? given : undefined;
  const schema = checked(standard === undefined ? given : formOf(standard));
  return {
    schema,
    isShown: () => true,
    async read(content) {
      const answer = checkFormAnswer(schema, content);
      if (!answer.ok) return { ok: false, faults: answer.issues };
      if (standard === undefined) return { ok: true, values: answer.content };
      const result = await standard['~standard'].validate(answer.content);
      if (result.issues === undefined) return { ok: true, values: answer.content, whole: result.value };
      const faults = result.issues.map(({ path = [], message }) => {
        const names = path.map((key) => String(typeof key === 'object' ? key.key : key));
        return { path: names.join('.'), message };
      });
      return { ok: false, faults };
    },
  };
}

function checked(schema: unknown): FormSchema {
  const check = checkFormSchema(schema);
  if (check.ok) return check.schema;
  const faults = check.issues.map(({ path, message }) => `${path}: ${message}`);
  throw new ParleyClientError('invalid_request', `This cannot be asked. ${faults.join('; ')}`);
}
