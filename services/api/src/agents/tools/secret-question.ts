/** Asks a person for a secret, of which the model only gets a reference. Redeeming references is in `secrets.ts`. */

import type { TerminalStatus } from '@parley/core/domain/elicitations/status';
import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import { isAsked } from '@parley/shared/domain/reach';
import type { AgentQuestion } from '../run/question.ts';
import { failed, type ToolCall, type ToolOutcome } from '../run/tool.ts';
import { referenceTo } from './secrets.ts';

/** A tool that can use a secret. */
export interface SecretTaker {
  /** The tool's name for models; `title` is for people. */
  readonly name: string;
  readonly title: string;
}

export interface SecretQuestion {
  readonly message: string;
  readonly title?: string | undefined;
  /** Name of the tool that may use the secret. */
  readonly for?: string | undefined;
}

export interface SecretQuestionOptions {
  /** Title of the agent that asks. */
  readonly agent: string;
  readonly takers: readonly SecretTaker[];
  readonly timeoutSeconds: number;
}

/** Asks the person to enter a secret on a hosted page. The model gets a reference that the named tool can use once. */
export async function askForSecret(
  call: ToolCall,
  input: SecretQuestion,
  options: SecretQuestionOptions,
): Promise<ToolOutcome> {
  const refusal = refusalOfSecret(call, input, options);
  if (refusal !== undefined) return failed(refusal);
  const { status, reference, text } = await takeSecret(call, 0, input, options);
  if (reference === undefined) return failed(text);
  const note = `Give this reference to ${input.for} as the value of the argument that is the secret. It works once.`;
  return { type: 'returned', output: { status, reference, note }, shown: { status } };
}

/** Why a secret cannot be asked for, in words for the model. Undefined if it can be asked for. */
export function refusalOfSecret(
  call: Pick<ToolCall, 'reach'>,
  input: Pick<SecretQuestion, 'for'>,
  { takers }: Pick<SecretQuestionOptions, 'takers'>,
): string | undefined {
  if (takerOf(input, takers) === undefined) return unknownTaker(takers);
  if (isAsked(call.reach({ mode: 'url' }))) return undefined;
  return "The user's client cannot show the page that takes secrets, so nobody was asked. Do not retry, and never ask for a secret in plain text.";
}

/** The result of the question for a secret. */
interface TakenSecret {
  readonly status: TerminalStatus;
  /** The model gets this in place of the entered secret. */
  readonly reference?: string;
  /** The outcome as text for the model. */
  readonly text: string;
}

/** Asks for a secret to which `refusalOfSecret` does not object, as the question with this ordinal. */
export async function takeSecret(
  call: ToolCall,
  ordinal: number,
  input: SecretQuestion,
  { agent, takers, timeoutSeconds }: SecretQuestionOptions,
): Promise<TakenSecret> {
  const taker = takerOf(input, takers);
  if (taker === undefined) throw new Error(`No tool takes the secret for ${input.for}.`);
  const question: AgentQuestion = {
    mode: 'url',
    message: input.message,
    ...(input.title !== undefined && { title: input.title }),
    context: {
      trigger: 'agent',
      toolId: SECRET_TOOL_ID,
      toolName: taker.name,
      credentialType: 'secret',
      agent,
      onceFor: taker.title,
    },
    timeoutSeconds,
  };
  const { status, text, elicitationId } = await call.ask(ordinal, question);
  return { status, text, ...(status === 'accepted' && { reference: referenceTo(elicitationId) }) };
}

function takerOf(
  input: Pick<SecretQuestion, 'for'>,
  takers: readonly SecretTaker[],
): SecretTaker | undefined {
  return takers.find(({ name }) => name === input.for);
}

function unknownTaker(takers: readonly SecretTaker[]): string {
  return takers.length === 0
    ? 'There is no tool that could use a secret, so nobody was asked. Do not retry.'
    : `for: must be the name of the tool that will use the secret, one of ${takers.map(({ name }) => name).join(', ')}.`;
}
