import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import { isAsked } from '@parley/shared/domain/reach';
import type { AgentQuestion } from './question.ts';
import { referenceTo } from './secrets.ts';
import { failed, type ToolCall, type ToolOutcome } from './tool.ts';

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
  { agent, takers, timeoutSeconds }: SecretQuestionOptions,
): Promise<ToolOutcome> {
  const taker = takers.find(({ name }) => name === input.for);
  if (taker === undefined) return failed(unknownTaker(takers));
  if (!isAsked(call.reach({ mode: 'url' }))) {
    return failed(
      "The user's client cannot show the page that takes secrets, so nobody was asked. Do not retry, and never ask for a secret in plain text.",
    );
  }
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
  const { status, text, elicitationId } = await call.ask(0, question);
  if (status !== 'accepted') return failed(text);
  return {
    type: 'returned',
    output: {
      status,
      reference: referenceTo(elicitationId),
      note: `Give this reference to ${taker.name} as the value of the argument that is the secret. It works once.`,
    },
    shown: { status },
  };
}

function unknownTaker(takers: readonly SecretTaker[]): string {
  return takers.length === 0
    ? 'There is no tool that could use a secret, so nobody was asked. Do not retry.'
    : `for: must be the name of the tool that will use the secret, one of ${takers.map(({ name }) => name).join(', ')}.`;
}
