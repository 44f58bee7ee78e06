import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { shownNotice } from '../../turns/shown.ts';

/** Events that an OpenAI stream carries in envelopes. */
type EnvelopedEvent = Extract<
  TurnEvent,
  { type: 'tool-called' | 'tool-returned' | 'tool-failed' | 'tool-auth-required' }
>;

/** The event as an envelope, with the same names and keys as in the AI SDK stream. */
export function envelopeOf(event: EnvelopedEvent): Readonly<Record<string, unknown>> {
  const { toolCallId } = event;
  switch (event.type) {
    case 'tool-called':
      return {
        type: 'tool-input-available',
        toolCallId,
        toolName: event.toolName,
        input: event.input ?? null,
      };
    case 'tool-returned':
      return { type: 'tool-output-available', toolCallId, output: event.output ?? null };
    case 'tool-failed':
      return { type: 'tool-output-error', toolCallId, errorText: event.message };
    case 'tool-auth-required':
      return { type: 'tool-auth-required', ...shownNotice(event) };
  }
}
