/**
 * Remembers approvals as grants, so that a person is not asked again for the same kind of call. Which calls need an approval,
 * and what may be remembered, is decided by the agents and by `decide.ts`.
 */

import { REMEMBER_DAYS_MAX, type RememberFor } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import type { Owner } from '@parley/core/domain/ids';
import { z } from 'zod';
import type { ApprovalTypes } from '../../domain/approvals/types.ts';
import { notFound } from '../../domain/caller.ts';
import type { ConversationRef } from '../../domain/runs/run.ts';
import type { OwnerRecords } from '../../ports/owner-records.ts';
import { sha256 } from '../../records/digest.ts';
import type { SeenRecord } from '../../records/read.ts';

const PREFIX = 'approval-grant ';
const DAY_MS = 86_400_000;

/** A remembered approval. Further calls of this tool by this agent under the same rule need no approval. */
export const ApprovalGrant = z
  .object({
    grantId: z.string(),
    agent: z.string().describe('Title of the agent.'),
    agentId: z.string(),
    server: z.string(),
    serverTitle: z.string().optional().describe('The server as people know it.'),
    tool: z.string(),
    toolTitle: z.string().optional().describe('The tool as people know it.'),
    rule: z.string().describe('Names the rule of the configuration; another rule asks again.'),
    conversationId: z.string().optional().describe('Present when it holds in this conversation only.'),
    approvalId: z.string(),
    grantedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().describe('A use in its conversation extends it.'),
  })
  .meta({ id: 'ApprovalGrant' });
export type ApprovalGrant = z.infer<typeof ApprovalGrant>;

/** The record that replaces a revoked grant. `revokedAt` is in ms on the Redis clock, like the times of decisions. */
const RevokedGrant = z.object({ revokedAt: z.number() });
type RevokedGrant = z.infer<typeof RevokedGrant>;

/** The calls that a grant covers. */
type GrantSubject = Pick<
  ApprovalDefinition,
  'tenant' | 'userId' | 'agentId' | 'tool' | 'rule' | 'conversationId' | 'remember'
>;

export interface Grants {
  /**
   * Remembers an approval if its settlement says so. Repeatable: a decision never restores a grant that has lapsed, or that was
   * revoked after the decision.
   */
  remember(seen: SeenRecord<ApprovalTypes>): Promise<void>;
  /** Returns the grant that permits a call without an approval. */
  find(subject: GrantSubject): Promise<ApprovalGrant | undefined>;
  list(owner: Owner): Promise<readonly ApprovalGrant[]>;
  /** Throws `not_found`. */
  revoke(owner: Owner, grantId: string): Promise<void>;
  /** Revokes the grants that are limited to one conversation. Repeatable. */
  revokeIn(conversation: ConversationRef): Promise<void>;
}

/**
 * Stores grants as records of their owners; no other owner finds them. `conversationMs` is how long an unused conversation, and
 * so a grant limited to it, is kept.
 */
export function createGrants(records: OwnerRecords, conversationMs: number): Grants {
  // A revocation lasts as long as the longest grant, so it never ends before a grant that it must prevent.
  const revokedMs = Math.max(conversationMs, REMEMBER_DAYS_MAX * DAY_MS);
  async function list(owner: Owner): Promise<readonly ApprovalGrant[]> {
    const found = await records.list(owner, PREFIX);
    return found.map(({ value }) => grantIn(value)).filter((grant) => grant !== undefined);
  }

  /** Returns false when there is no such grant. */
  async function revoke(owner: Owner, grantId: string): Promise<boolean> {
    for (;;) {
      const value = await records.read(owner, nameOf(grantId));
      if (value === undefined || grantIn(value) === undefined) return false;
      const revocation: RevokedGrant = { revokedAt: await records.now(owner) };
      const change = { name: nameOf(grantId), from: value, to: JSON.stringify(revocation), ttlMs: revokedMs };
      if (await records.replace(owner, change)) return true;
    }
  }

  return {
    list,
    async remember({ row: { id, definition, settlement, settledAt = 0 }, now }) {
      const { remember } = definition;
      if (settlement?.remember !== true || remember === undefined) return;
      const ttlMs = lifeOf(remember, conversationMs);
      const restMs = settledAt + ttlMs - now;
      if (restMs <= 0) return;
      const owner = ownerOf(definition);
      const grantId = grantIdOf(definition);
      // The previous version recorded a revocation under this name, with the first revoked decision. This check can be removed
      // after one release.
      if ((await records.read(owner, `approval-revoked ${grantId}`)) === id) return;
      const grant: ApprovalGrant = {
        grantId,
        agent: definition.agent,
        agentId: definition.agentId,
        ...subjectOf(definition),
        rule: definition.rule,
        ...(remember === 'conversation' && { conversationId: definition.conversationId }),
        approvalId: id,
        grantedAt: new Date(settledAt).toISOString(),
        expiresAt: new Date(settledAt + ttlMs).toISOString(),
      };
      const value = JSON.stringify(grant);
      for (;;) {
        const stored = await records.putIfAbsent(owner, nameOf(grantId), value, restMs);
        const { revokedAt } = RevokedGrant.safeParse(JSON.parse(stored)).data ?? {};
        if (revokedAt === undefined || revokedAt >= settledAt) return;
        if (await records.replace(owner, { name: nameOf(grantId), from: stored, to: value, ttlMs: restMs }))
          return;
      }
    },
    async find(subject) {
      if (subject.remember === undefined) return undefined;
      const renewMs = subject.remember === 'conversation' ? conversationMs : undefined;
      const value = await records.read(ownerOf(subject), nameOf(grantIdOf(subject)), renewMs);
      return value === undefined ? undefined : grantIn(value);
    },
    async revoke(owner, grantId) {
      if (!(await revoke(owner, grantId))) throw notFound();
    },
    async revokeIn({ conversationId, ...owner }) {
      const held = (await list(owner)).filter((grant) => grant.conversationId === conversationId);
      await Promise.all(held.map(({ grantId }) => revoke(owner, grantId)));
    },
  };
}

function subjectOf({ tool: { server, serverTitle, name, title } }: Pick<ApprovalDefinition, 'tool'>) {
  return {
    server,
    ...(serverTitle !== undefined && { serverTitle }),
    tool: name,
    ...(title !== undefined && { toolTitle: title }),
  };
}

function lifeOf(remember: RememberFor, conversationMs: number): number {
  return remember === 'conversation' ? conversationMs : remember.days * DAY_MS;
}

/** The id is a digest of everything to which a grant is limited. Tenant and user are given by the record's owner. */
function grantIdOf({ agentId, tool, rule, conversationId, remember }: GrantSubject): string {
  const scope = remember === 'conversation' ? conversationId : null;
  const subject = JSON.stringify([agentId, tool.server, tool.name, rule, scope]);
  return sha256(subject);
}

function nameOf(grantId: string): string {
  return `${PREFIX}${grantId}`;
}

function grantIn(value: string): ApprovalGrant | undefined {
  return ApprovalGrant.safeParse(JSON.parse(value)).data;
}

function ownerOf({ tenant, userId }: Owner): Owner {
  return { tenant, userId };
}
