/**
 * The built-in tool with which an agent asks its person. Its input is in `elicit-input.ts`, secrets are asked in
 * `secret-question.ts`.
 */

import { isParleyError } from '@parley/core/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import type { z } from 'zod';
import type { AgentQuestion } from '../run/question.ts';
import { failed, type Tool, type ToolCall, type ToolOutcome } from '../run/tool.ts';
import { describeRefusal, ELICIT_INPUT_SCHEMA, ElicitInput } from './elicit-input.ts';
import { askListedFields, choicesOf, KEPT, UNSUPPORTED } from './listed-fields.ts';
import { askForSecret, type SecretTaker } from './secret-question.ts';

const FIELD = 'answer';

/** A question that the person answers in a form: any kind except `secret`. */
type ElicitToolInput = Exclude<ElicitInput, { kind: 'secret' }>;

interface ElicitToolOptions {
  /** Title of the agent that asks. */
  readonly agent: string;
  /** Tools that may receive a secret. */
  readonly takers: readonly SecretTaker[];
  /** How long a person has to answer. */
  readonly timeoutSeconds: number;
}

/** Makes the built-in tool with which an agent asks its person a question and gets the answer. */
export function createElicitTool(options: ElicitToolOptions): Tool {
  return {
    name: 'elicit',
    title: 'Ask the user',
    description:
      'Asks the user a question and waits for the answer: a text, a choice, several choices, a confirmation, a small form, or a secret. Ask for passwords, keys and tokens as a secret only: you get a reference that the tool named by `for` can use once.',
    inputSchema: ELICIT_INPUT_SCHEMA,
    async call(call) {
      const input = ElicitInput.safeParse(call.input);
      if (!input.success) return failed(describeFaults(input.error));
      const question = input.data;
      try {
        if (question.kind === 'secret') return await askForSecret(call, question, options);
        const { fields } = question.kind === 'form' ? question : {};
        if (fields !== undefined) return await askListedFields(call, { ...question, fields }, options);
        return await askInForm(call, question, options.timeoutSeconds);
      } catch (error) {
        if (!isParleyError(error)) throw error;
        return failed(describeRefusal(error));
      }
    },
  };
}

async function askInForm(
  call: ToolCall,
  input: ElicitToolInput,
  timeoutSeconds: number,
): Promise<ToolOutcome> {
  const question = questionOf(input, timeoutSeconds);
  const fallbackValue = defaultOf(input);
  if (!isAsked(call.reach(question)) && fallbackValue === undefined) return failed(UNSUPPORTED);
  if (!call.isAttended) return continuedWith(fallbackValue);
  const { status, content, fallback, text } = await call.ask(0, question);
  if (fallback !== undefined) return continuedWith(fallback[FIELD]);
  if (status !== 'accepted') return failed(text);
  const shown = { status };
  if (input.sensitive === true) return { type: 'returned', output: { status, note: KEPT }, shown };
  const answer = input.kind === 'form' ? content : content?.[FIELD];
  return { type: 'returned', output: { status, answer: answer ?? null }, shown };
}

/** The asker's own default, labelled so that the model does not take it for an answer. */
function continuedWith(value: unknown): ToolOutcome {
  const note =
    "Nobody was asked: the user's client cannot show questions. This is your own default, not the user's answer; say so where it matters.";
  return { type: 'returned', output: { status: 'not_asked', default: value, note } };
}

function defaultOf(input: ElicitToolInput): string | boolean | undefined {
  return 'default' in input ? input.default : undefined;
}

function questionOf(input: ElicitToolInput, timeoutSeconds: number): AgentQuestion {
  const fallback = defaultOf(input);
  return {
    mode: 'form',
    message: input.message,
    ...(input.title !== undefined && { title: input.title }),
    ...(input.sensitive === true && { sensitive: true }),
    requestedSchema: input.kind === 'form' ? input.schema : schemaOf(input),
    ...(fallback !== undefined && { onUnavailable: { content: { [FIELD]: fallback } } }),
    context: { trigger: 'agent' },
    timeoutSeconds,
  };
}

function schemaOf(input: Exclude<ElicitToolInput, { kind: 'form' }>): Record<string, unknown> {
  return { type: 'object', properties: { [FIELD]: fieldOf(input) }, required: [FIELD] };
}

function fieldOf(input: Exclude<ElicitToolInput, { kind: 'form' }>): Record<string, unknown> {
  // The question's own title is already displayed above the field.
  const title = 'Your answer';
  switch (input.kind) {
    case 'text':
      return { type: 'string', title, minLength: 1 };
    case 'confirmation':
      return { type: 'boolean', title };
    case 'choice':
      return { type: 'string', title, oneOf: choicesOf(input.options) };
    case 'multi_choice':
      return {
        type: 'array',
        title,
        items: { anyOf: choicesOf(input.options) },
        ...(input.min !== undefined && { minItems: input.min }),
        ...(input.max !== undefined && { maxItems: input.max }),
      };
  }
}

function describeFaults(error: z.ZodError): string {
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
  return `The question is not well formed. ${faults.join('; ')}`;
}
