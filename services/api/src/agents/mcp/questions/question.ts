/**
 * Reads a server's question, and converts the person's answer to MCP. Asking is in `agents/tools/passthrough`, schemas are in
 * `import-schema.ts`.
 */

import type { TerminalStatus } from '@parley/core/domain/elicitations/status';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { LEFT_OUT } from '@parley/shared/domain/json/depth';
import { z } from 'zod';
import { isReadable } from '../readable.ts';
import { importSchema } from './import-schema.ts';
import { type Restores, restoreContent } from './restores.ts';

/** The kinds of questions that a server may ask during a call. */
export interface QuestionModes {
  readonly form: boolean;
  readonly url: boolean;
}

/** A server's question in the form in which Parley asks it. */
export type ServerQuestion =
  | {
      readonly mode: 'form';
      readonly message: string;
      readonly requestedSchema: FormSchema;
      /** How the answer is converted to fit the server's own schema. */
      readonly restores?: Restores;
    }
  | {
      readonly mode: 'url';
      readonly message: string;
      readonly url: string;
      /** The server's own id; only in the 2025 revision. */
      readonly serverId?: string;
    };

/** The person's answer in MCP's format. */
export type ServerAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };

/** The question is not asked. The message is for the server's developers and for the model. */
export class QuestionRefused extends Error {
  /** The capability that the client must declare for the question, as MCP names it. */
  readonly requires: object | undefined;

  constructor(message: string, requires?: object) {
    super(message);
    this.name = 'QuestionRefused';
    this.requires = requires;
  }
}

// The maximum length of a message. Its texts are searched for secrets, which must not take long.
const MESSAGE_MAX = 10_000;

const Params = z.looseObject({
  // If the mode is missing, it is form.
  mode: z.enum(['form', 'url'], 'must be form or url').default('form'),
  message: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(MESSAGE_MAX, `must be at most ${MESSAGE_MAX} characters`),
  requestedSchema: z.unknown().optional(),
  url: z.string('must be a string').optional(),
  elicitationId: z.string('must be a string').max(1_000).optional(),
});

/**
 * Reads the parameters of an `elicitation/create`. Throws QuestionRefused if they are malformed, if the mode was not declared,
 * or if a form asks for a secret.
 */
export function readQuestion(params: unknown, modes: QuestionModes): ServerQuestion {
  if (params === LEFT_OUT || !isReadable(params))
    throw new QuestionRefused('The question is too large to be read.');
  const parsed = Params.safeParse(params ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new QuestionRefused(`${issue?.path.join('.') ?? 'params'} ${issue?.message ?? 'is invalid'}.`);
  }
  const { mode, message, requestedSchema, url, elicitationId } = parsed.data;
  if (!modes[mode]) throw new QuestionRefused(`The client has not declared elicitation by ${mode}.`);
  if (mode === 'url') {
    if (url === undefined) throw new QuestionRefused('url is required in mode url.');
    return { mode, message, url, ...(elicitationId !== undefined && { serverId: elicitationId }) };
  }
  const imported = importSchema(requestedSchema, message);
  if (!imported.ok) throw new QuestionRefused(`${imported.message}.`);
  const { schema, restores } = imported;
  return { mode, message, requestedSchema: schema, ...(restores && { restores }) };
}

/**
 * The answer for the server. MCP has no term for a question that expired or was withdrawn; both become `cancel`, which is
 * neither consent nor refusal.
 */
export function answerFor(
  question: ServerQuestion,
  {
    status,
    content,
  }: { readonly status: TerminalStatus; readonly content?: Readonly<Record<string, unknown>> },
): ServerAnswer {
  switch (status) {
    case 'accepted':
      return question.mode === 'form'
        ? { action: 'accept', content: restoreContent(content ?? {}, question.restores) }
        : { action: 'accept' };
    case 'declined':
      return { action: 'decline' };
    default:
      return { action: 'cancel' };
  }
}
