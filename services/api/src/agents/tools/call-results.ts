import type { Message } from '@parley/shared/domain/runs/run';
import type { StepCall } from './call-tool.ts';
import { failed, type ToolOutcome } from './tool.ts';

/** The results for the model: one message with the outcome of every call of the step. */
export function resultsOf(calls: readonly StepCall[], outcomes: readonly ToolOutcome[]): Message {
  const content = calls.map(({ modelCallId, toolName }, index) => ({
    type: 'tool-result',
    toolCallId: modelCallId,
    toolName,
    output: outputOf(outcomes[index] ?? failed('There is no result.')),
  }));
  return { role: 'tool', content };
}

function outputOf(outcome: ToolOutcome): Record<string, unknown> {
  if (outcome.type === 'failed') return { type: 'error-text', value: outcome.message };
  return typeof outcome.output === 'string'
    ? { type: 'text', value: outcome.output }
    : { type: 'json', value: outcome.output };
}
