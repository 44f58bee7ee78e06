import type { UIMessage } from 'ai';
import type { ModelCall, ModelWarning } from './types.ts';

/** A prompt as chat messages: the text of users and assistants. Parley's agents have their own instructions and tools. */
export function messagesOf({ prompt }: Pick<ModelCall, 'prompt'>): UIMessage[] {
  return prompt.flatMap((message): UIMessage[] => {
    if (message.role !== 'user' && message.role !== 'assistant') return [];
    const parts = message.content.flatMap((part) =>
      part.type === 'text' ? [{ type: 'text' as const, text: part.text }] : [],
    );
    return parts.length === 0 ? [] : [{ id: crypto.randomUUID(), role: message.role, parts }];
  });
}

const SETTINGS = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
] as const;
const DETAILS = "The agent's own configuration decides.";

/** Warnings about the settings of a call that have no effect. */
export function warningsOf(call: ModelCall): ModelWarning[] {
  const features: string[] = SETTINGS.filter((setting) => call[setting] !== undefined);
  if (call.prompt.some(({ role }) => role === 'system')) features.push('system messages');
  if (call.tools !== undefined && call.tools.length > 0) features.push('tools');
  if (call.responseFormat?.type === 'json') features.push('responseFormat');
  return features.map((feature) => ({ type: 'unsupported', feature, details: DETAILS }));
}
