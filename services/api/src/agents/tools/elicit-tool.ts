import { isParleyError } from '@parley/shared/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import { z } from 'zod';
import type { AgentQuestion } from './question.ts';
import { askForSecret, type SecretTaker } from './secret-question.ts';
import { failed, type Tool, type ToolCall, type ToolOutcome } from './tool.ts';

const FIELD = 'answer';

const Option = z.strictObject({
  value: z.string().min(1).max(200),
  title: z.string().min(1).max(200).optional().describe('What the person reads; the value when absent.'),
});

const QUESTION = {
  message: z.string().min(1).describe('The question, as the person reads it.'),
  title: z.string().optional().describe('A short heading.'),
};
const FORM_QUESTION = {
  ...QUESTION,
  sensitive: z
    .boolean()
    .optional()
    .describe('true: you do not get the answer, only the information that there is one.'),
};

/** What a model may ask. */
const ElicitInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), ...FORM_QUESTION, default: z.string().min(1).optional() }),
  z.strictObject({
    kind: z.literal('choice'),
    ...FORM_QUESTION,
    options: z.array(Option).min(2).max(50),
    default: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('multi_choice'),
    ...FORM_QUESTION,
    options: z.array(Option).min(1).max(50),
    min: z.int().min(0).optional(),
    max: z.int().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal('confirmation'), ...FORM_QUESTION, default: z.boolean().optional() }),
  z.strictObject({
    kind: z.literal('form'),
    ...FORM_QUESTION,
    schema: z
      .record(z.string(), z.unknown())
      .describe('A flat JSON Schema object of string, number, integer, boolean and enum fields.'),
  }),
  z.strictObject({ kind: z.literal('secret'), ...QUESTION, for: z.string().max(128).optional() }),
]);
/** A question that the person answers in a form: every kind but `secret`. */
type ElicitToolInput = Exclude<z.infer<typeof ElicitInput>, { kind: 'secret' }>;

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['text', 'choice', 'multi_choice', 'confirmation', 'form', 'secret'] },
    message: { type: 'string', description: FORM_QUESTION.message.description },
    title: { type: 'string', description: 'A short heading.' },
    options: {
      type: 'array',
      description: 'choice and multi_choice: what to choose from.',
      items: {
        type: 'object',
        properties: { value: { type: 'string' }, title: { type: 'string' } },
        required: ['value'],
      },
    },
    min: { type: 'integer', description: 'multi_choice: how many at least.' },
    max: { type: 'integer', description: 'multi_choice: how many at most.' },
    schema: {
      type: 'object',
      description: 'form: a flat JSON Schema object of string, number, integer, boolean and enum fields.',
    },
    default: {
      description:
        'text, choice and confirmation: the value to continue with if the user cannot be shown the question. Only where a wrong guess does no harm.',
    },
    sensitive: { type: 'boolean', description: FORM_QUESTION.sensitive.description },
    for: { type: 'string', description: 'secret: the name of the tool that will use it.' },
  },
  required: ['kind', 'message'],
} as const;

/** The error for a client that cannot show questions. */
const UNSUPPORTED =
  "The user's client cannot show questions, so nobody was asked. Do not retry; ask in plain text instead, or continue without an answer.";

export interface ElicitToolOptions {
  /** Title of the agent that asks. */
  readonly agent: string;
  /** Tools that may be given a secret. */
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
    inputSchema: INPUT_SCHEMA,
    async call(call) {
      const input = ElicitInput.safeParse(call.input);
      if (!input.success) return failed(describeFaults(input.error));
      const question = input.data;
      try {
        if (question.kind === 'secret') return await askForSecret(call, question, options);
        return await askInForm(call, question, options.timeoutSeconds);
      } catch (error) {
        if (!isParleyError(error)) throw error;
        return failed(describeRefusal(error.message, error.issues ?? []));
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
  if (input.sensitive === true) {
    const kept = 'The user answered; the answer is kept from you.';
    return { type: 'returned', output: { status, note: kept }, shown };
  }
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
  // The question's own title stands above the field already.
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

function choicesOf(options: readonly z.infer<typeof Option>[]): { const: string; title: string }[] {
  return options.map(({ value, title }) => ({ const: value, title: title ?? value }));
}

function describeFaults(error: z.ZodError): string {
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
  return `The question is not well formed. ${faults.join('; ')}`;
}

function describeRefusal(message: string, issues: readonly { path: string; message: string }[]): string {
  const named = (path: string) => (path.startsWith('onUnavailable') ? 'default' : path);
  return [message, ...issues.map((issue) => `${named(issue.path)}: ${issue.message}`)].join(' ');
}
