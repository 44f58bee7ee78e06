import type { AdminDelivery } from './deliveries/view.ts';
import type { AdminApproval } from './views/approval-view.ts';
import type { AdminElicitation } from './views/elicitation-view.ts';
import type { AdminTurn } from './views/turn-view.ts';

/** A question in the documentation, as an operator sees it. */
export const SAMPLE_ADMIN_ELICITATION: AdminElicitation = {
  elicitationId: 'el_0gT3fMv7Qx2LrK8sYbWnHc4D',
  userId: 'alice',
  streamRequestId: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
  conversationId: 'trip-7',
  mode: 'url',
  trigger: 'credential_required',
  toolId: 'tracker',
  agent: 'travel',
  status: 'pending',
  createdAt: '2026-01-15T09:30:00.000Z',
  expiresAt: '2026-01-15T10:00:00.000Z',
};

/** An approval in the documentation, as an operator sees it. */
export const SAMPLE_ADMIN_APPROVAL: AdminApproval = {
  approvalId: 'ap_0gT3fMv7Qx2LrK8sYbWnHc4D',
  userId: 'alice',
  streamRequestId: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
  conversationId: 'trip-7',
  toolCallId: 'call_1',
  agent: 'travel',
  toolId: 'bookings',
  toolName: 'bookings_cancel',
  status: 'denied',
  decision: 'deny',
  surface: 'chat',
  createdAt: '2026-01-15T09:30:00.000Z',
  expiresAt: '2026-01-15T10:00:00.000Z',
  settledAt: '2026-01-15T09:31:00.000Z',
};

/** A turn in the documentation, as an operator sees it. */
export const SAMPLE_ADMIN_TURN: AdminTurn = {
  streamRequestId: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
  userId: 'alice',
  conversationId: 'trip-7',
  agent: 'travel',
  state: 'detached',
  term: 2,
  takeOvers: 0,
  startedAt: '2026-01-15T09:29:55.000Z',
};

/** A webhook that is being retried, as an operator sees it. */
export const SAMPLE_ADMIN_DELIVERY: AdminDelivery = {
  deliveryId: 'msg_el_0gT3fMv7Qx2LrK8sYbWnHc4D',
  kind: 'webhook',
  state: 'retrying',
  target: 'hooks.example.com',
  elicitationId: 'el_0gT3fMv7Qx2LrK8sYbWnHc4D',
  streamRequestId: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
  userId: 'alice',
  attempts: 2,
  lastError: 'status',
  lastStatus: 503,
  notedAt: '2026-01-15T09:30:00.000Z',
  nextAttemptAt: '2026-01-15T09:35:07.000Z',
};

/** The reasons that `why` gives for that question. */
export const SAMPLE_REASONS = [
  'alice was asked 14 minutes ago (credential_required for tracker) and has not answered.',
  'It expires by itself at 10:00:00 UTC, in 15 minutes.',
  'alice has no event stream open on any pod: no chat or inbox follows it now. Clients that poll, such as those of MCP and A2A, hold none.',
  'alice is linked to slack, which notifies them in 6 minutes.',
  'The turn sr_0gT3fMv7Qx2LrK8sYbWnHc of the agent travel began 14 minutes ago and has not ended.',
  'It is detached: no pod holds it, and it goes on when what it waits for has ended.',
  'It has waited for el_0gT3fMv7Qx2LrK8sYbWnHc4D (credential_required) for 14 minutes, which is open until 10:00:00 UTC.',
];
