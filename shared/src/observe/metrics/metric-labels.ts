import { APPROVAL_STATUSES, type EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import { STATUSES, type TerminalStatus } from '@parley/core/domain/elicitations/status';
import { CHAT_QUOTAS } from '../../domain/runs/commands.ts';
import type { WakeSource } from '../../ports/elicitations/observer.ts';

/** Label values come from a fixed set, so that callers cannot increase the number of series. Ids and users are never labels. */
export const TRIGGERS = [
  'agent',
  'approval',
  'credential_required',
  'mcp_elicitation',
  'a2a_input_required',
  'ag_ui_interrupt',
  'acp',
  'other',
] as const;
const SURFACES = [
  'api',
  'chat',
  'connect',
  'answer-link',
  'answer-page',
  'mcp',
  'a2a',
  'a2a-caller',
  'acp',
  'slack',
  'widget',
  'cli',
  'other',
] as const;
export const LIMITS = [
  'service-calls',
  'service-openings',
  'operator-calls',
  'user-writes',
  'user-reads',
  'user-read-bytes',
  'user-write-bytes',
  'service-write-bytes',
  'service-read-bytes',
  'tenant-reads',
  'answers',
  'streams',
  'open',
  ...CHAT_QUOTAS.flatMap((quota) => [`user-${quota}`, `tenant-${quota}`] as const),
  'pod-turns',
  'pod-tenant-turns',
  'pod-openings',
  'operator-streams',
  'a2a-pushed',
] as const;
export const SOURCES = ['push', 'read', 'sweep'] as const satisfies readonly WakeSource[];
export const REFRESHES = ['refreshed', 'refused', 'failed', 'overtaken'] as const;
export const TURN_ENDS = ['finished', 'stopped', 'failed', 'handed_over', 'detached'] as const;
export const OUTCOMES = STATUSES.slice(2) as TerminalStatus[];
export const ANSWERS = ['accepted', 'declined', 'cancelled'] as const satisfies readonly TerminalStatus[];

export const APPROVAL_OUTCOMES = APPROVAL_STATUSES.slice(1) as EndedApprovalStatus[];

export type Trigger = (typeof TRIGGERS)[number];
export type SurfaceLabel = (typeof SURFACES)[number];
export type LimitName = (typeof LIMITS)[number];

/** The trigger as a label; `other` when it is unknown. */
export const triggerLabel = createLabel<Trigger>(TRIGGERS);
/** The surface as a label; `other` when it is unknown. */
export const surfaceLabel = createLabel<SurfaceLabel>(SURFACES);

/**
 * Makes tenants labels. The first `tenantsMax` tenants of this process have their own label, and all others are `other`, so
 * that callers cannot increase the number of series without bound.
 */
export function createTenantLabel(tenantsMax: number): (tenant: string) => string {
  const known = new Set<string>();
  return (tenant) => {
    if (!known.has(tenant) && known.size >= tenantsMax) return 'other';
    known.add(tenant);
    return tenant;
  };
}

function createLabel<Label extends string>(known: readonly (Label | 'other')[]) {
  const labels = new Map<unknown, Label | 'other'>(known.map((label) => [label, label]));
  return (value: unknown): Label | 'other' => labels.get(value) ?? 'other';
}
