// biome-ignore-all format: written by `npm run docs` from the schemas of the routes for operators.
import type { AnswerLink } from '@parley/core';
import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';

export type Overview = { readonly elicitations: { readonly open: number; readonly openOverOneMinute: number; readonly openOverTenMinutes: number; readonly openOverOneHour: number; readonly endedLastMinute: number; readonly endedLastHour: number; readonly oldestOpenAt?: string }; readonly approvals: { readonly open: number; readonly openOverOneMinute: number; readonly openOverTenMinutes: number; readonly openOverOneHour: number; readonly endedLastMinute: number; readonly endedLastHour: number; readonly oldestOpenAt?: string }; readonly turns: { readonly open: number; readonly openOverOneMinute: number; readonly openOverTenMinutes: number; readonly openOverOneHour: number; readonly endedLastMinute: number; readonly endedLastHour: number; readonly oldestOpenAt?: string } };

export type AdminInstallation = { readonly pods: readonly ({ readonly name: string; readonly isAlive: boolean })[]; readonly workers: readonly ({ readonly name: string; readonly isAlive: boolean; readonly startedAt: string; readonly queues: readonly (string)[]; readonly running: readonly (string)[]; readonly rounds: readonly ({ readonly work: string; readonly at: string })[] })[]; readonly queues: readonly ({ readonly name: string; readonly waiting: number; readonly active: number; readonly delayed: number; readonly failed: number })[]; readonly canaryAgeSeconds?: number; readonly servers: readonly ({ readonly role?: string; readonly version?: string; readonly usedMemoryBytes?: number; readonly maxMemoryBytes?: number })[]; readonly deadLetters: number };

export type Counts = { readonly window: 'hour' | 'day'; readonly coveredSeconds: number; readonly elicitations: { readonly open: { readonly underOneMinute: number; readonly underTenMinutes: number; readonly underOneHour: number; readonly overOneHour: number }; readonly openByAgent: readonly ({ readonly agent: string; readonly underOneMinute: number; readonly underTenMinutes: number; readonly underOneHour: number; readonly overOneHour: number })[]; readonly ended: number; readonly outcomes: readonly ({ readonly trigger: string; readonly byStatus: Readonly<Record<string, number>> })[]; readonly answerSeconds?: { readonly p50: number; readonly p95: number }; readonly isSampled: boolean }; readonly approvals: { readonly open: { readonly underOneMinute: number; readonly underTenMinutes: number; readonly underOneHour: number; readonly overOneHour: number }; readonly openByAgent: readonly ({ readonly agent: string; readonly underOneMinute: number; readonly underTenMinutes: number; readonly underOneHour: number; readonly overOneHour: number })[]; readonly ended: number; readonly outcomes: readonly ({ readonly trigger: string; readonly byStatus: Readonly<Record<string, number>> })[]; readonly answerSeconds?: { readonly p50: number; readonly p95: number }; readonly isSampled: boolean } };

export type Insights = { readonly window: 'hour' | 'day'; readonly by: 'agent' | 'tool' | 'person'; readonly coveredSeconds: number; readonly insights: readonly ({ readonly name: string; readonly held: number; readonly approvedShare?: number; readonly medianSeconds?: number; readonly expired: number; readonly withdrawn: number; readonly decidedWithinTwoSeconds: number; readonly neverDenied: boolean })[]; readonly isSampled: boolean };

export type AdminElicitation = { readonly elicitationId: string; readonly userId: string; readonly streamRequestId: string; readonly conversationId: string; readonly mode: 'form' | 'url'; readonly sensitive?: boolean; readonly trigger: string; readonly toolId?: string; readonly toolName?: string; readonly agent?: string; readonly tags?: readonly (string)[]; readonly askedBy?: string; readonly status: 'pending' | 'opened' | 'accepted' | 'declined' | 'cancelled' | 'expired' | 'withdrawn'; readonly action?: 'accept' | 'decline' | 'cancel'; readonly reason?: string; readonly surface?: string; readonly createdAt: string; readonly expiresAt: string; readonly settledAt?: string; readonly elicitation?: Elicitation };

export type AdminApproval = { readonly approvalId: string; readonly userId: string; readonly streamRequestId: string; readonly conversationId: string; readonly toolCallId: string; readonly agent: string; readonly toolId: string; readonly toolName: string; readonly tags?: readonly (string)[]; readonly status: 'pending' | 'approved' | 'edited' | 'denied' | 'expired' | 'withdrawn'; readonly decision?: 'approve' | 'edit' | 'deny'; readonly remembered?: boolean; readonly reason?: string; readonly surface?: string; readonly createdAt: string; readonly expiresAt: string; readonly settledAt?: string; readonly approval?: Approval };

export type AdminTurn = { readonly streamRequestId: string; readonly userId?: string; readonly key?: string; readonly conversationId: string; readonly agent: string; readonly state: 'running' | 'queued' | 'detached' | 'orphaned' | 'finished' | 'failed' | 'stopped'; readonly stopping?: boolean; readonly pod?: string; readonly term: number; readonly takeOvers: number; readonly startedAt: string; readonly endedAt?: string; readonly restsUntil?: string; readonly parent?: string };

export type AdminDelivery = { readonly deliveryId: string; readonly kind: string; readonly state: 'waiting' | 'under_way' | 'retrying' | 'dead'; readonly target?: string; readonly elicitationId?: string; readonly approvalId?: string; readonly streamRequestId?: string; readonly userId?: string; readonly key?: string; readonly attempts: number; readonly lastError?: string; readonly lastStatus?: number; readonly notedAt?: string; readonly nextAttemptAt?: string; readonly diedAt?: string };

export type Reasons = { readonly reasons: readonly (string)[] };

export type AdminPerson = { readonly userId: string; readonly elicitations: readonly (AdminElicitation)[]; readonly approvals: readonly (AdminApproval)[]; readonly turns: readonly (AdminTurn)[]; readonly conversations: readonly ({ readonly conversationId: string; readonly title?: string; readonly agent: string; readonly latestTurnAt: string; readonly isRunning: boolean })[]; readonly accounts: readonly (AccountOfPerson)[]; readonly isLinked?: boolean; readonly openStreams: readonly (string)[]; readonly quotas: { readonly turns: { readonly used: number; readonly max: number }; readonly tokens: { readonly used: number; readonly max: number }; readonly conversations: { readonly used: number; readonly max: number }; readonly storedBytes: { readonly used: number; readonly max: number } } };

export type AccountOfPerson = { readonly toolId: string; readonly service: string; readonly state: 'connected' | 'reconnect_required' | 'not_connected'; readonly managed?: true; readonly connectedAt?: string };

export type AdminConversation = { readonly conversationId: string; readonly turns: readonly ({ readonly streamRequestId: string; readonly turn?: AdminTurn; readonly messages?: readonly ({ readonly role: 'user' | 'assistant' | 'tool'; readonly text: string; readonly isCut?: true })[] })[] };

export type AnswerLinkRevoked = { readonly revoked: boolean };

export type ErasedUser = { readonly userId: string; readonly complete: boolean; readonly erased: { readonly withdrawn: number; readonly stopped: number; readonly elicitations: number; readonly turns: number; readonly conversations: number; readonly accounts: number; readonly pages: number } };

/** What each call of an operator replies. */
export interface AdminReplies {
  readonly 'GET /v1/admin/overview': Overview;
  readonly 'GET /v1/admin/installation': AdminInstallation;
  readonly 'GET /v1/admin/counts': Counts;
  readonly 'GET /v1/admin/insights': Insights;
  readonly 'GET /v1/admin/elicitations': { readonly elicitations: readonly (AdminElicitation)[]; readonly nextCursor?: string };
  readonly 'GET /v1/admin/approvals': { readonly approvals: readonly (AdminApproval)[]; readonly nextCursor?: string };
  readonly 'GET /v1/admin/turns': { readonly turns: readonly (AdminTurn)[]; readonly nextCursor?: string };
  readonly 'GET /v1/admin/deliveries': { readonly deliveries: readonly (AdminDelivery)[]; readonly nextCursor?: string };
  readonly 'GET /v1/admin/elicitations/:id': { readonly elicitation: AdminElicitation; readonly history: readonly ({ readonly at: string; readonly event: string; readonly status: string; readonly revision: number; readonly action?: string; readonly decision?: string; readonly reason?: string; readonly surface?: string; readonly expiresAt?: string })[]; readonly isHistoryWhole: boolean };
  readonly 'GET /v1/admin/elicitations/:id/why': Reasons;
  readonly 'DELETE /v1/admin/elicitations/:id': AdminElicitation;
  readonly 'POST /v1/admin/elicitations/:id/extend': AdminElicitation;
  readonly 'POST /v1/admin/elicitations/:id/redeliver': { readonly outstanding: true };
  readonly 'GET /v1/admin/approvals/:id': { readonly approval: AdminApproval; readonly history: readonly ({ readonly at: string; readonly event: string; readonly status: string; readonly revision: number; readonly action?: string; readonly decision?: string; readonly reason?: string; readonly surface?: string; readonly expiresAt?: string })[]; readonly isHistoryWhole: boolean };
  readonly 'GET /v1/admin/approvals/:id/why': Reasons;
  readonly 'DELETE /v1/admin/approvals/:id': AdminApproval;
  readonly 'POST /v1/admin/approvals/:id/extend': AdminApproval;
  readonly 'POST /v1/admin/approvals/:id/redeliver': { readonly outstanding: true };
  readonly 'GET /v1/admin/turns/:streamRequestId': AdminTurn;
  readonly 'GET /v1/admin/turns/:streamRequestId/timeline': { readonly conversationId: string; readonly runs: readonly ({ readonly startedAt: string; readonly endedAt?: string; readonly durationMs?: number; readonly streamRequestId: string; readonly agent: string; readonly status: 'running' | 'finished' | 'failed' | 'stopped'; readonly parent?: { readonly streamRequestId: string; readonly toolCallId: string }; readonly owners: readonly ({ readonly startedAt: string; readonly endedAt?: string; readonly durationMs?: number; readonly state: 'owned' | 'queued' | 'detached'; readonly pod?: string; readonly term: number })[]; readonly steps: readonly ({ readonly startedAt: string; readonly endedAt?: string; readonly durationMs?: number; readonly index: number; readonly pod?: string; readonly finishReason: string; readonly inputTokens?: number; readonly outputTokens?: number })[]; readonly calls: readonly ({ readonly startedAt: string; readonly endedAt?: string; readonly durationMs?: number; readonly toolCallId: string; readonly toolName: string; readonly step: number; readonly state: 'intended' | 'dispatched' | 'returned' | 'failed'; readonly pod?: string; readonly delegate?: string })[]; readonly waits: readonly ({ readonly startedAt: string; readonly endedAt?: string; readonly durationMs?: number; readonly elicitationId: string; readonly trigger: string; readonly toolCallId?: string; readonly outcome?: string })[] })[] };
  readonly 'GET /v1/admin/turns/:streamRequestId/why': Reasons;
  readonly 'POST /v1/admin/turns/:streamRequestId/stop': { readonly changed: boolean; readonly turn: AdminTurn };
  readonly 'POST /v1/admin/turns/:streamRequestId/resume': { readonly changed: boolean; readonly turn: AdminTurn };
  readonly 'POST /v1/admin/turns/:streamRequestId/redeliver': { readonly outstanding: true };
  readonly 'GET /v1/admin/people/:userId': AdminPerson;
  readonly 'GET /v1/admin/conversations/:conversationId': AdminConversation;
  readonly 'POST /v1/elicitations/:id/answer-link': AnswerLink;
  readonly 'DELETE /v1/elicitations/:id/answer-link': AnswerLinkRevoked;
  readonly 'POST /v1/approvals/:id/answer-link': AnswerLink;
  readonly 'DELETE /v1/approvals/:id/answer-link': AnswerLinkRevoked;
  readonly 'DELETE /v1/users/:userId': ErasedUser;
}
