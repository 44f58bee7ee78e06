/**
 * Puts the questions and permission requests of one ACP task to the person, within limits. The rules for permissions are in
 * `permission.ts`.
 */

import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { isParleyError } from '@parley/core/domain/errors';
import { visibleLabels } from '@parley/core/domain/visible';
import { isAsked, PAGE_OF_ASKER, type QuestionShape } from '@parley/shared/domain/reach';
import { sha256 } from '@parley/shared/records/digest';
import { answerFor, type QuestionModes, QuestionRefused, readQuestion } from '../mcp/questions/question.ts';
import { isReadable } from '../mcp/readable.ts';
import type { Scrub } from '../mcp/scrub.ts';
import type { AgentQuestion, AskOutcome } from '../run/question.ts';
import type { ToolCall } from '../run/tool.ts';
import type { AcpAgentTarget } from './acp-agent.ts';
import { denied, offeredOptions, permissionOutcome, permissionQuestion } from './permission.ts';

/** How many requests beyond the limit are refused one by one. After that the task ends. */
const REFUSALS_MAX = 100;

interface TaskQuestionsOptions {
  readonly agent: Pick<AcpAgentTarget, 'id' | 'title' | 'mayAsk'>;
  /** How many questions the agent may ask in one task. */
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
  /** Runs a wait for the person, during which the task's clock is paused. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Aborted when the task ends. Its open questions are then withdrawn. */
  readonly over: AbortSignal;
  /** Called if the agent keeps asking although its questions are refused. */
  readonly onEndless: () => void;
  /** Removes the values of the agent's environment variables from what the person sees. */
  readonly scrub: Scrub;
}

/** The questions that an ACP agent asks during a task. */
export interface TaskQuestions {
  /** The elicitation modes that Parley declares to the agent. */
  readonly modes: QuestionModes;
  /**
   * Puts a question to the person. Throws QuestionRefused, which the agent gets as `-32602`. `taken` is aborted when the agent
   * withdraws the question.
   */
  elicit(params: CreateElicitationRequest, taken: AbortSignal): Promise<CreateElicitationResponse>;
  /** Puts a permission request to the person. Never rejects. Silence and failures never permit anything. */
  permit(params: RequestPermissionRequest, taken: AbortSignal): Promise<RequestPermissionResponse>;
}

/** Makes the questions of one task, which become elicitations on the turn's stream. */
export function createTaskQuestions(call: ToolCall, options: TaskQuestionsOptions): TaskQuestions {
  const { agent, questionsMax, questionTimeoutSeconds, waiting, over, onEndless, scrub } = options;
  const mayAsk = (question: QuestionShape) => agent.mayAsk && isAsked(call.reach(question));
  const modes = { form: mayAsk({ mode: 'form' }), url: mayAsk(PAGE_OF_ASKER) };
  let count = 0;

  /** Counts a request and returns its ordinal. It is called before the request is read, so refused requests count too. */
  function take(): number {
    count += 1;
    if (count > questionsMax + REFUSALS_MAX) onEndless();
    if (count > questionsMax) throw new QuestionRefused(`A task may ask ${questionsMax} questions at most.`);
    return count - 1;
  }

  async function ask(
    ordinal: number,
    given: Pick<AgentQuestion, 'mode' | 'message' | 'description' | 'requestedSchema' | 'url' | 'completion'>,
    trigger: string,
    taken: AbortSignal,
  ): Promise<AskOutcome> {
    const question = scrub.value(given) as typeof given;
    const asked = {
      title: `${agent.title} asks`,
      context: { trigger, toolId: agent.id, toolName: agent.title },
      timeoutSeconds: questionTimeoutSeconds,
      ...question,
    } satisfies AgentQuestion;
    if (!isAsked(call.reach(asked)))
      throw new QuestionRefused('The client of the user cannot show this question.');
    const digest = sha256(JSON.stringify(question));
    const withdrawn = AbortSignal.any([taken, over]);
    try {
      return await waiting(() => call.ask(ordinal, asked, { digest, withdrawn, patterns: true }));
    } catch (error) {
      if (!isParleyError(error)) throw error;
      const issues = (error.issues ?? []).map(({ path, message }) => `${path} ${message}.`);
      throw new QuestionRefused([error.message, ...issues].join(' '));
    }
  }

  return {
    modes,
    async elicit(params, taken) {
      const ordinal = take();
      // Unknown modes are refused by name, so that such a question is never shown as another kind.
      const question = readQuestion(isReadable(params) ? visibleLabels(params) : params, modes);
      const { mode, message } = question;
      const asked =
        mode === 'form'
          ? { mode, message, requestedSchema: question.requestedSchema }
          : { mode, message, url: question.url, completion: 'client' as const };
      const outcome = await ask(ordinal, asked, 'acp_elicitation', taken).catch((error: unknown) => {
        if (over.aborted) return undefined;
        throw error;
      });
      // The task has ended, so the agent is told that the question was cancelled, as with permissions.
      if (outcome === undefined) return { action: 'cancel' };
      return { ...answerFor(question, outcome) } as CreateElicitationResponse;
    },
    async permit(params, taken) {
      try {
        const ordinal = take();
        if (!isReadable(params)) return denied(params.options);
        // Secrets are removed before the input is serialized, because JSON may write a value differently.
        const toolCall = scrub.value(params.toolCall) as typeof params.toolCall;
        const options = offeredOptions({ toolCall, options: params.options }, scrub);
        if (!modes.form || options.length === 0) return denied(params.options);
        const question = permissionQuestion({ toolCall, options });
        const outcome = await ask(ordinal, question, 'acp_permission', taken);
        if (over.aborted) return { outcome: { outcome: 'cancelled' } };
        return permissionOutcome(options, outcome);
      } catch {
        return over.aborted ? { outcome: { outcome: 'cancelled' } } : denied(params.options);
      }
    },
  };
}
