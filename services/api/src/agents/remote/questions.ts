import { isParleyError } from '@parley/core/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import type { AgentQuestion, AskOutcome } from '../run/question.ts';
import type { ToolCall } from '../run/tool.ts';
import type { CalledAgent } from './called-agent.ts';

/** The parts of an agent's question that are put to the person. */
export type AgentAsk = Pick<
  AgentQuestion,
  | 'mode'
  | 'message'
  | 'description'
  | 'requestedSchema'
  | 'url'
  | 'completion'
  | 'sensitive'
  | 'timeoutSeconds'
>;

/** The asking agent, and which of its questions this is. */
export interface AskingAgent {
  readonly agent: Pick<CalledAgent, 'id' | 'title' | 'mayAsk'>;
  /** The trigger that is recorded with the question. */
  readonly trigger: string;
  readonly timeoutSeconds: number;
  readonly round: number;
  readonly digest: string;
  /** Withdraws the question when aborted. */
  readonly withdrawn?: AbortSignal;
}

/** Asks. Undefined if the question cannot be put to the person. */
export async function askForAgent(
  call: ToolCall,
  { agent, trigger, timeoutSeconds, round, digest, withdrawn }: AskingAgent,
  question: AgentAsk,
): Promise<AskOutcome | undefined> {
  const asked: AgentQuestion = {
    title: `${agent.title} asks`,
    timeoutSeconds,
    ...question,
    context: { trigger, toolId: agent.id, toolName: agent.title },
  };
  if (!agent.mayAsk || !call.isAttended || !isAsked(call.reach(asked))) return undefined;
  try {
    return await call.ask(round, asked, { digest, patterns: true, ...(withdrawn && { withdrawn }) });
  } catch (error) {
    // For example, people may not be sent to the address, or the schema is outside the subset.
    if (isParleyError(error)) return undefined;
    throw error;
  }
}

/**
 * The person opens a page of the agent, and then confirms that they have finished there. A result is undefined if the question
 * cannot be asked.
 */
export async function visitPage(
  call: ToolCall,
  byOf: (step: 'open' | 'finish') => AskingAgent,
  { message, url }: { readonly message: string; readonly url: string },
): Promise<{ readonly opened?: AskOutcome | undefined; readonly finished?: AskOutcome | undefined }> {
  const by = byOf('open');
  const opened = await askForAgent(call, by, {
    ...pageOf(url),
    message: message === '' ? `${by.agent.title} needs an authorization.` : message,
  });
  if (opened?.status !== 'accepted') return { opened };
  const finished = await askForAgent(call, byOf('finish'), {
    mode: 'form',
    message: `Please continue when you have finished at ${new URL(url).host}.`,
    requestedSchema: { type: 'object', properties: {} },
  });
  return { opened, finished };
}

/** A page as a url question that names its host in words. */
export function pageOf(url: string, description?: string) {
  const host = URL.canParse(url) ? `The page is at ${new URL(url).host}.` : '';
  return {
    mode: 'url',
    url,
    completion: 'client',
    description: [description, host].filter((one) => one !== undefined && one !== '').join('\n'),
  } as const;
}
