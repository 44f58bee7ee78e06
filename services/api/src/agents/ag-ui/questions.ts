/**
 * Puts the interrupts of a run to the person, and makes the entries that resume it. Reading interrupts is in
 * `read-interrupts.ts`.
 */

import { visible } from '@parley/core/domain/visible';
import { type AskingAgent, askForAgent, visitPage } from '../remote/questions.ts';
import type { RemoteTaskRules } from '../remote/result.ts';
import type { AskOutcome } from '../run/question.ts';
import type { ToolCall } from '../run/tool.ts';
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

interface InterruptAsker {
  readonly call: ToolCall;
  readonly agent: Pick<AgUiAgentTarget, 'id' | 'title' | 'mayAsk'>;
  readonly rules: Pick<RemoteTaskRules, 'questionTimeoutSeconds'>;
  readonly thread: Pick<AgUiThread, 'messages'>;
  /** How many runs have ended. It distinguishes interrupts, because an agent may reuse an interrupt's id. */
  readonly run: number;
}

/** The person wrote a message instead of deciding, which ends the turn. */
export const TURN_ENDS = 'turn-ends';

const TOOL_NAME_MAX = 128;

/**
 * Puts all the interrupts of a run to the person at once, and waits until all of them have ended. Repeated interrupts lead to
 * the same questions. Throws the reason of the call's signal.
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
      const byOf = (step: string) => askingOf(asker, interrupt, step === 'open' ? '' : 'finished');
      const { opened, finished = opened } = await visitPage(asker.call, byOf, question);
      return entryOf(interrupt, finished, () => true);
    }
    case 'form': {
      const outcome = await askForAgent(asker.call, askingOf(asker, interrupt), question.question);
      return entryOf(interrupt, outcome, question.payloadOf);
    }
  }
}

/** The resume entry for an interrupt. AG-UI has no term for declining; another Parley reads the payload `false` as that. */
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

/** Asks the person to approve a call of the agent, which is shown within the delegating call. */
async function decide(
  { call, agent, rules, run }: InterruptAsker,
  interrupt: AgUiInterrupt,
  { toolCallId, name, args, argsSchema }: Extract<InterruptQuestion, { type: 'approval' }>,
): Promise<object | typeof TURN_ENDS> {
  const outcome = await call.approve(
    {
      args,
      // The agent's statements about its tool are untrusted.
      tool: {
        server: agent.id,
        serverTitle: agent.title,
        name: visible(name).slice(0, TOOL_NAME_MAX),
        hints: { destructive: true },
      },
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

/** How an interrupt is put to the person, as a form or as a step of its page. */
function askingOf({ agent, rules, run }: InterruptAsker, interrupt: AgUiInterrupt, place = ''): AskingAgent {
  return {
    agent,
    trigger: 'ag_ui_interrupt',
    timeoutSeconds: timeoutOf(interrupt, rules),
    round: run,
    digest: JSON.stringify([interrupt.id, place]),
  };
}

/** The question expires before the agent's interrupt does. */
function timeoutOf(
  { expiresAt }: Pick<AgUiInterrupt, 'expiresAt'>,
  { questionTimeoutSeconds }: InterruptAsker['rules'],
): number {
  const leftSeconds = Math.floor((Date.parse(expiresAt ?? '') - Date.now()) / 1_000);
  return Number.isNaN(leftSeconds)
    ? questionTimeoutSeconds
    : Math.max(1, Math.min(questionTimeoutSeconds, leftSeconds));
}
