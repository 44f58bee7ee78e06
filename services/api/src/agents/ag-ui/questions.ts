import { isParleyError } from '@parley/shared/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import { visible } from '@parley/shared/domain/visible';
import { pageAsk } from '../a2a/read-questions.ts';
import type { RemoteTaskRules } from '../a2a/task-run.ts';
import type { AgentQuestion, AskOutcome } from '../tools/question.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { AgUiAgentTarget } from './ag-ui-agent.ts';
import { shownNameOf } from './checkpoint.ts';
import type { AgUiInterrupt } from './events.ts';
import { type InterruptQuestion, parleyOf, readInterrupt } from './read-interrupts.ts';
import type { AgUiThread } from './thread.ts';

/** The answer to one interrupt. */
export interface ResumedInterrupt {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: unknown;
}

export interface InterruptAsker {
  readonly call: ToolCall;
  readonly agent: Pick<AgUiAgentTarget, 'id' | 'title' | 'mayAsk'>;
  readonly rules: Pick<RemoteTaskRules, 'questionTimeoutSeconds'>;
  readonly thread: Pick<AgUiThread, 'messages'>;
  /** How many runs have ended: an agent may use the id of an interrupt again. */
  readonly run: number;
}

/** The person wrote a message instead of deciding, which ends the turn. */
export const TURN_ENDS = 'turn-ends';

const TOOL_NAME_MAX = 128;

/**
 * Puts what a run waits for to the person, all of it at once, and waits until all of it has ended. Interrupts that were put
 * before lead to the same questions. Throws the reason of the call's signal.
 */
export async function answerInterrupts(
  asker: InterruptAsker,
  interrupts: readonly AgUiInterrupt[],
): Promise<readonly ResumedInterrupt[] | typeof TURN_ENDS> {
  const entries = await Promise.all(interrupts.map((interrupt) => answerInterrupt(asker, interrupt)));
  const answered = entries.filter((entry) => entry !== TURN_ENDS);
  return answered.length < entries.length ? TURN_ENDS : answered;
}

async function answerInterrupt(
  asker: InterruptAsker,
  interrupt: AgUiInterrupt,
): Promise<ResumedInterrupt | typeof TURN_ENDS> {
  const { id: interruptId } = interrupt;
  const cancelled = { interruptId, status: 'cancelled' } as const;
  if (!asker.agent.mayAsk) return cancelled;
  const question = readInterrupt(interrupt, asker.thread, asker.agent.title);
  switch (question.type) {
    case 'unusable':
      return cancelled;
    case 'approval': {
      const payload = await decide(asker, interrupt, question);
      return payload === TURN_ENDS ? payload : { interruptId, status: 'resolved', payload };
    }
    case 'page': {
      const outcome = await visit(asker, interrupt, question);
      return entryOf(interrupt, outcome, () => true);
    }
    case 'form': {
      const outcome = await ask(asker, interrupt, question.question);
      return entryOf(interrupt, outcome, question.payloadOf);
    }
  }
}

/** AG-UI has no word for a person who declines. Another Parley takes the payload `false` for it. */
function entryOf(
  interrupt: AgUiInterrupt,
  outcome: Pick<AskOutcome, 'status' | 'content'> | undefined,
  payloadOf: (content: NonNullable<AskOutcome['content']>) => unknown,
): ResumedInterrupt {
  const { id: interruptId } = interrupt;
  if (outcome?.status === 'accepted')
    return { interruptId, status: 'resolved', payload: payloadOf(outcome.content ?? {}) };
  if (outcome?.status === 'declined' && parleyOf(interrupt) !== undefined)
    return { interruptId, status: 'resolved', payload: false };
  return { interruptId, status: 'cancelled' };
}

/** Has the person approve a call of the agent, which is shown within the call that delegates to it. */
async function decide(
  { call, agent, rules, run }: InterruptAsker,
  interrupt: AgUiInterrupt,
  { toolCallId, name, args, argsSchema }: Extract<InterruptQuestion, { type: 'approval' }>,
): Promise<object | typeof TURN_ENDS> {
  const outcome = await call.approve(
    {
      args,
      // What the agent says of its tool proves nothing.
      tool: { server: agent.id, name: visible(name).slice(0, TOOL_NAME_MAX), hints: { destructive: true } },
      inputSchema: argsSchema,
      rule: 'interrupt',
      remember: undefined,
      timeoutSeconds: timeoutOf(interrupt, rules),
    },
    { callName: shownNameOf(toolCallId), key: JSON.stringify([run, interrupt.id]) },
  );
  if (outcome.type === 'refused')
    return outcome.endsTurn === true ? TURN_ENDS : { approved: false, reason: outcome.message };
  return { approved: true, ...(outcome.isEdited && { editedArgs: outcome.input }) };
}

/** The person opens the page, and then says that they have finished there. */
async function visit(
  asker: InterruptAsker,
  interrupt: AgUiInterrupt,
  { message, url }: Extract<InterruptQuestion, { type: 'page' }>,
): Promise<AskOutcome | undefined> {
  const opened = await ask(asker, interrupt, pageAsk(message, url, asker.agent.title));
  if (opened?.status !== 'accepted') return opened;
  const finished = await ask(
    asker,
    interrupt,
    {
      mode: 'form',
      message: `Please continue when you have finished at ${new URL(url).host}.`,
      requestedSchema: { type: 'object', properties: {} },
    },
    'finished',
  );
  return finished ?? opened;
}

/** Asks. Undefined when the question cannot be put to the person. */
async function ask(
  { call, agent, rules, run }: InterruptAsker,
  interrupt: AgUiInterrupt,
  question: Pick<
    AgentQuestion,
    'mode' | 'message' | 'description' | 'requestedSchema' | 'url' | 'completion'
  >,
  place = '',
): Promise<AskOutcome | undefined> {
  const asked: AgentQuestion = {
    title: `${agent.title} asks`,
    timeoutSeconds: timeoutOf(interrupt, rules),
    ...question,
    context: { trigger: 'ag_ui_interrupt', toolId: agent.id, toolName: agent.title },
  };
  if (!call.isAttended || !isAsked(call.reach(asked))) return undefined;
  try {
    return await call.ask(run, asked, { digest: JSON.stringify([interrupt.id, place]), patterns: true });
  } catch (error) {
    // Such as an address that people may not be sent to, or a schema outside the subset.
    if (isParleyError(error)) return undefined;
    throw error;
  }
}

/** An interrupt is answered before the agent gives it up. */
function timeoutOf(
  { expiresAt }: Pick<AgUiInterrupt, 'expiresAt'>,
  { questionTimeoutSeconds }: InterruptAsker['rules'],
): number {
  const leftSeconds = Math.floor((Date.parse(expiresAt ?? '') - Date.now()) / 1_000);
  return Number.isNaN(leftSeconds)
    ? questionTimeoutSeconds
    : Math.max(1, Math.min(questionTimeoutSeconds, leftSeconds));
}
