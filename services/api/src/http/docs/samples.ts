import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';

/** A question in examples of the documentation. */
export const SAMPLE_ELICITATION = {
  elicitationId: 'el_0gT3fMv7Qx2LrK8sYbWnHc4D',
  streamRequestId: 'checkout-42',
  conversationId: 'trip-7',
  userId: 'alice',
  mode: 'form',
  message: 'Which seat would you like?',
  requestedSchema: {
    type: 'object',
    properties: { seat: { type: 'string', enum: ['window', 'aisle'] } },
    required: ['seat'],
  },
  context: { trigger: 'agent' },
  status: 'pending',
  createdAt: '2026-01-15T09:30:00.000Z',
  expiresAt: '2026-01-15T09:40:00.000Z',
  serverTime: '2026-01-15T09:30:00.012Z',
} as const satisfies Elicitation;

/** The same question, answered. */
export const SAMPLE_ANSWERED = {
  ...SAMPLE_ELICITATION,
  status: 'accepted',
  action: 'accept',
  content: { seat: 'window' },
  settledAt: '2026-01-15T09:30:41.207Z',
  settledBy: { surface: 'api' },
  serverTime: '2026-01-15T09:30:41.210Z',
} as const satisfies Elicitation;

/** Values of path parameters in the examples. */
export const SAMPLE_PARAMS: Readonly<Record<string, string>> = {
  id: SAMPLE_ELICITATION.elicitationId,
  streamRequestId: SAMPLE_ELICITATION.streamRequestId,
  conversationId: SAMPLE_ELICITATION.conversationId,
  toolId: 'tracker',
  workflowId: 'onboarding-17',
  position: '3',
  agent: 'travel',
  operation: 'message:send',
  task: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
  deliveryId: `msg_${SAMPLE_ELICITATION.elicitationId}`,
};

/** An event stream as text. Each event has its name, its id if it has one, and its data. */
export function sampleEvents(
  ...events: readonly (readonly [event: string | undefined, id: string | undefined, data: unknown])[]
): string {
  return events
    .map(([event, id, data]) =>
      [
        ...(id === undefined ? [] : [`id: ${id}`]),
        ...(event === undefined ? [] : [`event: ${event}`]),
        `data: ${typeof data === 'string' ? data : JSON.stringify(data)}`,
        '',
      ].join('\n'),
    )
    .join('\n');
}
