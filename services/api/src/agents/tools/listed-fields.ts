/**
 * Asks for a list of fields: one form, then a hosted page for each secret. The tool that models call is in `elicit-tool.ts`.
 */

import { isParleyError } from '@parley/core/domain/errors';
import { LISTED_KINDS } from '@parley/core/domain/forms/listed-kinds';
import { isAsked } from '@parley/shared/domain/reach';
import type { AgentQuestion } from '../run/question.ts';
import { failed, type ToolCall, type ToolOutcome } from '../run/tool.ts';
import { describeRefusal, type FieldInput, type OptionInput } from './elicit-input.ts';
import {
  refusalOfSecret,
  type SecretQuestion,
  type SecretQuestionOptions,
  takeSecret,
} from './secret-question.ts';

/** The error for a client that cannot show questions. */
export const UNSUPPORTED =
  "The user's client cannot show questions, so nobody was asked. Do not retry; ask in plain text instead, or continue without an answer.";
/** The model gets this in place of a sensitive answer. */
export const KEPT = 'The user answered; the answer is kept from you.';

/** A form whose fields a model lists as `{name, prompt, type, options}`. */
interface ListedForm {
  readonly message: string;
  readonly title?: string | undefined;
  readonly sensitive?: boolean | undefined;
  readonly fields: readonly FieldInput[];
}

/**
 * Asks for listed fields: first one form for all but the secrets, then each secret on a hosted page. The model gets the
 * references of the secrets. Nothing is asked unless everything can be asked. If a secret is missing, the answers so far are
 * still returned.
 */
export async function askListedFields(
  call: ToolCall,
  form: ListedForm,
  options: SecretQuestionOptions,
): Promise<ToolOutcome> {
  const [secrets, shown] = partition(form.fields);
  const question = shown.length === 0 ? undefined : questionOf(form, shown, options.timeoutSeconds);
  // The form shows the message, so the first secret repeats it only if there is no form.
  const intro = question === undefined ? `${form.message}\n\n` : '';
  const asking = secrets.map((field) => ({ field, secret: secretOf(form, field, intro, options) }));
  for (const { field, secret } of asking) {
    const refusal = refusalOfSecret(call, secret, options);
    if (refusal !== undefined) return failed(`${field.name}: ${refusal}`);
  }
  if (!call.isAttended || (question !== undefined && !isAsked(call.reach(question))))
    return failed(UNSUPPORTED);
  const answered = question && (await call.ask(0, question));
  if (answered !== undefined && answered.status !== 'accepted') return failed(answered.text);
  const answer = form.sensitive === true ? { note: KEPT } : { answer: answered?.content ?? {} };
  const references: [name: string, reference: string][] = [];
  for (const [at, { field, secret }] of asking.entries()) {
    const { status, reference, text } = await takeSecret(call, at + 1, secret, options).catch((error) => {
      const hasAnswers = answered !== undefined || references.length > 0;
      if (!hasAnswers || !isParleyError(error)) throw error;
      return { status: 'not_asked' as const, reference: undefined, text: describeRefusal(error) };
    });
    if (reference !== undefined) references.push([field.name, reference]);
    else if (field.required || status !== 'declined') {
      const missing = { status, field: field.name, reason: text };
      return returned({ ...missing, ...answer, ...withReferences(references) });
    }
  }
  return returned({ status: 'accepted', ...answer, ...withReferences(references) });
}

function returned(output: { readonly status: string }): ToolOutcome {
  return { type: 'returned', output, shown: { status: output.status } };
}

function withReferences(references: readonly (readonly [name: string, reference: string])[]) {
  if (references.length === 0) return {};
  return {
    references: Object.fromEntries(references),
    secrets:
      'Give each reference to its tool as the value of the argument that is the secret. It works once.',
  };
}

function partition(fields: readonly FieldInput[]): readonly [secrets: FieldInput[], shown: FieldInput[]] {
  const isSecret = ({ type }: FieldInput) => LISTED_KINDS[type] === 'secret';
  return [fields.filter(isSecret), fields.filter((field) => !isSecret(field))];
}

/** A secret names its tool, unless there is only one. */
function secretOf(
  { title }: ListedForm,
  { name, prompt, ...field }: FieldInput,
  intro: string,
  { takers }: SecretQuestionOptions,
): SecretQuestion {
  const taker = field.for ?? (takers.length === 1 ? takers[0]?.name : undefined);
  return { message: `${intro}${prompt ?? name}`, title, for: taker };
}

function questionOf(
  { message, title, sensitive }: ListedForm,
  fields: readonly FieldInput[],
  timeoutSeconds: number,
): AgentQuestion {
  const properties = Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)]));
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    mode: 'form',
    message,
    ...(title !== undefined && { title }),
    ...(sensitive === true && { sensitive: true }),
    requestedSchema: { type: 'object', properties, required },
    context: { trigger: 'agent' },
    timeoutSeconds,
  };
}

function schemaOf({ name, prompt, type, options = [], required }: FieldInput): Record<string, unknown> {
  const title = prompt ?? name;
  switch (LISTED_KINDS[type]) {
    case 'choice':
      return { type: 'string', title, oneOf: choicesOf(options) };
    case 'multi_choice':
      return { type: 'array', title, items: { anyOf: choicesOf(options) } };
    case 'number':
      return { type: 'number', title };
    case 'date':
      return { type: 'string', format: 'date', title };
    case 'confirmation':
      return { type: 'boolean', title };
    default:
      return { type: 'string', title, ...(required && { minLength: 1 }) };
  }
}

/** The choices of a field in its schema. */
export function choicesOf(options: readonly OptionInput[]): { const: string; title: string }[] {
  return options.map((option) => {
    const { value, title } = typeof option === 'string' ? { value: option, title: option } : option;
    return { const: value, title: title ?? value };
  });
}
