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

/** Requests beyond the limit that are refused one by one. Then the task ends. */
const REFUSALS_MAX = 100;

interface TaskQuestionsOptions {
  readonly agent: Pick<AcpAgentTarget, 'id' | 'title' | 'mayAsk'>;
  /** How many questions the agent may ask in one task. */
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
  /** Runs a wait for the person. The time of the task is paused during the wait. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Aborted when the task ends: its open questions are withdrawn. */
  readonly over: AbortSignal;
  /** Called when the agent does not stop asking, whatever it is told. */
  readonly onEndless: () => void;
  /** Removes the values of the agent's own environment from what it shows to the person. */
  readonly scrub: Scrub;
}

/** What an ACP agent asks while it works on a task. */
export interface TaskQuestions {
  /** What the agent is told that can be asked. */
  readonly modes: QuestionModes;
  /** Puts a question to the person. Throws QuestionRefused; the agent then gets `-32602`. `taken` is aborted when the agent takes it back. */
  elicit(params: CreateElicitationRequest, taken: AbortSignal): Promise<CreateElicitationResponse>;
  /** Puts a permission request to the person. Never rejects: silence and failures permit nothing. */
  permit(params: RequestPermissionRequest, taken: AbortSignal): Promise<RequestPermissionResponse>;
}

/** Makes the questions of one task: they become elicitations on the turn's stream. */
export function createTaskQuestions(call: ToolCall, options: TaskQuestionsOptions): TaskQuestions {
  const { agent, questionsMax, questionTimeoutSeconds, waiting, over, onEndless, scrub } = options;
  const mayAsk = (question: QuestionShape) => agent.mayAsk && isAsked(call.reach(question));
  const modes = { form: mayAsk({ mode: 'form' }), url: mayAsk(PAGE_OF_ASKER) };
  let count = 0;

  /** Counts a request before it is read, so that refused ones count too, and returns its ordinal. */
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
      // An unknown mode is refused by its name: nothing of it is shown as something else.
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
      // The task has ended: its agent is told so, as it is of a permission.
      if (outcome === undefined) return { action: 'cancel' };
      return { ...answerFor(question, outcome) } as CreateElicitationResponse;
    },
    async permit(params, taken) {
      try {
        const ordinal = take();
        if (!isReadable(params)) return denied(params.options);
        // Before the input becomes JSON, in which a value may be written differently.
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
