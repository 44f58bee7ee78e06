import type { Approval } from '@parley/core/domain/approvals/approval';

/** The approval in examples of the documentation. */
export const SAMPLE_APPROVAL: Approval = {
  approvalId: 'ap_17Zp0c9nTq2mUe4xYb7RkW1a',
  streamRequestId: 'sr_8fT2kQd0Wn5vXy3LmB6aRc',
  conversationId: 'c-42',
  userId: 'ada',
  toolCallId: 'call_1',
  step: 'sr_8fT2kQd0Wn5vXy3LmB6aRc 0',
  agent: 'Travel desk',
  tool: {
    server: 'bookings',
    name: 'bookings_cancel',
    title: 'Cancel a booking',
    hints: { readOnly: false, destructive: true },
  },
  arguments: { booking: 'B-1042', refund: true },
  masked: [],
  inputSchema: {
    type: 'object',
    properties: { booking: { type: 'string' }, refund: { type: 'boolean' } },
    required: ['booking'],
  },
  remember: 'conversation',
  status: 'approved',
  decision: 'approve',
  createdAt: '2026-01-15T09:30:00.000Z',
  expiresAt: '2026-01-15T09:40:00.000Z',
  settledAt: '2026-01-15T09:30:05.000Z',
  settledBy: { surface: 'chat' },
  serverTime: '2026-01-15T09:30:05.000Z',
};
