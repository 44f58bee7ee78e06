import { randomUUID } from 'node:crypto';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { Engine } from '@parley/shared/elicitations/engine';
import { userOf } from './questions.ts';

/** The call whose approval `requestApproval` requests. */
export const CALL = {
  conversationId: 'talk',
  toolCallId: 'call_1',
  step: 'step 0',
  agent: 'Travel desk',
  agentId: 'desk',
  tool: { server: 'bookings', name: 'bookings_cancel', hints: { destructive: true } },
  arguments: { booking: 'B-1', apiKey: '••••••' },
  masked: ['/apiKey'],
  inputSchema: {
    type: 'object',
    properties: { booking: { type: 'string', minLength: 1 }, apiKey: { type: 'string' } },
    required: ['booking'],
  },
  remember: 'conversation',
  rule: 'always',
  timeoutSeconds: 600,
} as const satisfies Omit<ApprovalDefinition, keyof StreamRef>;

/** Requests the approval of a call of the stream's owner. */
export function requestApproval(
  engine: Engine,
  { tenant, userId, streamRequestId }: StreamRef,
  more: Partial<ApprovalDefinition> = {},
  idempotencyKey = `run ${streamRequestId} ${randomUUID()}`,
) {
  const definition = { ...CALL, tenant, userId, streamRequestId, ...more };
  return engine.approvals.request({ definition, idempotencyKey });
}

/** Decides as the owner. */
export function decideAs(engine: Engine, stream: StreamRef, id: string, response: ApprovalInput) {
  return engine.approvals.decide({ caller: userOf(stream), id, response, surface: 'chat' });
}
