import type { Message } from '@parley/shared/domain/runs/run';
import type { CallPage } from '@parley/shared/domain/runs/turn-events';
import { failed, type ToolOutcome } from '../run/tool.ts';
import type { StepCall } from './call-tool.ts';

/** The results for the model: one message with the outcomes of all calls of the step. */
export function resultsOf(calls: readonly StepCall[], outcomes: readonly ToolOutcome[]): Message {
  const content = calls.map(({ modelCallId, toolName }, index) => {
    const outcome = outcomes[index] ?? failed('There is no result.');
    return {
      type: 'tool-result',
      toolCallId: modelCallId,
      toolName,
      output: outputOf(outcome),
      ...(outcome.page !== undefined && { page: nameOf(outcome.page) }),
    };
  });
  return { role: 'tool', content };
}

/** Names the page that shows the call, for the history. Models do not get this member. */
function nameOf({ pageId, service }: CallPage): Pick<CallPage, 'pageId' | 'service'> {
  return { pageId, service };
}

function outputOf(outcome: ToolOutcome): Record<string, unknown> {
  if (outcome.type === 'failed') return { type: 'error-text', value: outcome.message };
  return typeof outcome.output === 'string'
    ? { type: 'text', value: outcome.output }
    : { type: 'json', value: outcome.output };
}
