import {
  APPROVAL_STATUSES,
  type ApprovalStatus,
  isApprovalEnded,
} from '@parley/core/domain/approvals/status';
import type { CommonCommand } from '@parley/core/domain/family';
import type { ApprovalCommand } from '@parley/shared/domain/approvals/commands';
import { approvalTransition } from '@parley/shared/domain/approvals/transition';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const CREATED_AT = 1_700_000_000_000;
const EXPIRES_AT = CREATED_AT + 600_000;

const COMMANDS = {
  approve: { type: 'approve', surface: 'chat' },
  'approve and remember': { type: 'approve', remember: true, surface: 'chat' },
  edit: { type: 'edit', arguments: { a: 1, b: { c: 2 } }, faults: [], surface: 'chat' },
  'edit to something else': { type: 'edit', arguments: { a: 2 }, faults: [], surface: 'chat' },
  'edit with faults': {
    type: 'edit',
    arguments: { a: 'x' },
    faults: [{ path: 'a', message: 'must be a number' }],
    surface: 'chat',
  },
  deny: { type: 'deny', reason: 'No.', surface: 'chat' },
  'deny for another reason': { type: 'deny', reason: 'Never.', surface: 'chat' },
  expire: { type: 'expire' },
  withdraw: { type: 'withdraw', reason: 'run_stopped' },
  extend: { type: 'extend', expiresAt: EXPIRES_AT + 1 },
  'extend to where it is': { type: 'extend', expiresAt: EXPIRES_AT },
  'extend too far': { type: 'extend', expiresAt: CREATED_AT + 604_800_001 },
} as const satisfies Record<string, ApprovalCommand | CommonCommand>;
type CommandName = keyof typeof COMMANDS;

const SETTLEMENTS: Readonly<Record<ApprovalStatus, ApprovalRow['settlement']>> = {
  pending: undefined,
  approved: { decision: 'approve', surface: 'api' },
  // Names in another order than the command has them.
  edited: { decision: 'edit', arguments: { b: { c: 2 }, a: 1 }, surface: 'api' },
  denied: { decision: 'deny', reason: 'No.', surface: 'api' },
  expired: {},
  withdrawn: { reason: 'run_stopped' },
};

function rowIn(status: ApprovalStatus, revision = 1): ApprovalRow {
  const settlement = SETTLEMENTS[status];
  return {
    id: 'ap_00AAAAAAAAAAAAAAAAAAAAAA',
    definition: {
      tenant: 'acme',
      userId: 'ada',
      streamRequestId: 's',
      conversationId: 'c',
      toolCallId: 'call_1',
      step: 's 0',
      agent: 'Desk',
      agentId: 'desk',
      tool: { server: 'files', name: 'files_remove' },
      arguments: { a: 1 },
      masked: [],
      inputSchema: { type: 'object' },
      remember: 'conversation',
      rule: 'always',
      timeoutSeconds: 600,
    },
    status,
    revision,
    createdAt: CREATED_AT,
    expiresAt: EXPIRES_AT,
    ...(settlement !== undefined && { settlement, settledAt: CREATED_AT + 1 }),
  };
}

const CONFLICT = 'already_settled';
/** The table, stated a second time: a move, `same`, or the code of the refusal. */
const TABLE: Readonly<Record<ApprovalStatus, Readonly<Record<CommandName, string>>>> = {
  pending: {
    approve: '> approved',
    'approve and remember': '> approved',
    edit: '> edited',
    'edit to something else': '> edited',
    'edit with faults': 'invalid_answer',
    deny: '> denied',
    'deny for another reason': '> denied',
    expire: 'same',
    withdraw: '> withdrawn',
    extend: '> pending',
    'extend to where it is': 'same',
    'extend too far': 'invalid_request',
  },
  approved: { ...all(CONFLICT), approve: 'same', expire: 'same' },
  edited: { ...all(CONFLICT), edit: 'same', expire: 'same' },
  denied: { ...all(CONFLICT), deny: 'same', expire: 'same' },
  expired: { ...all('expired'), expire: 'same' },
  withdrawn: { ...all(CONFLICT), expire: 'same', withdraw: 'same' },
};

function all(outcome: string): Record<CommandName, string> {
  return Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, outcome])) as Record<
    CommandName,
    string
  >;
}

function outcomeOf(row: ApprovalRow, command: (typeof COMMANDS)[CommandName], now: number): string {
  const decision = approvalTransition(row, command, now);
  switch (decision.type) {
    case 'unchanged':
      return 'same';
    case 'refused':
      return decision.refusal.code;
    case 'commit':
      return `> ${decision.step.status}`;
    case 'expire-first':
      return `first ${decision.step.status}`;
  }
}

describe('the table of approvals', () => {
  for (const status of APPROVAL_STATUSES)
    for (const name of Object.keys(COMMANDS) as CommandName[])
      it(`${status}: ${name}`, () => {
        for (const now of [CREATED_AT, EXPIRES_AT - 1])
          expect(outcomeOf(rowIn(status), COMMANDS[name], now)).toBe(TABLE[status][name]);
        const late = outcomeOf(rowIn(status), COMMANDS[name], EXPIRES_AT);
        if (isApprovalEnded(status)) expect(late).toBe(TABLE[status][name]);
        else expect(late).toBe(name === 'expire' ? '> expired' : 'first expired');
      });

  it('decides every command on every status, never mutates, and moves by one revision', () => {
    const anyRow = fc
      .tuple(fc.constantFrom(...APPROVAL_STATUSES), fc.integer({ min: 1, max: 9 }))
      .map(([status, revision]) => rowIn(status, revision));
    const anyCommand = fc.constantFrom(...Object.values(COMMANDS));
    const anyTime = fc.integer({ min: CREATED_AT, max: EXPIRES_AT + 1_000 });
    fc.assert(
      fc.property(anyRow, anyCommand, anyTime, (row, command, now) => {
        const before = structuredClone(row);
        const decision = approvalTransition(row, command, now);
        expect(row).toEqual(before);
        if (decision.type !== 'commit' && decision.type !== 'expire-first') return;
        const { step } = decision;
        expect(isApprovalEnded(row.status)).toBe(false);
        expect(isApprovalEnded(step.status)).toBe(command.type !== 'extend' || now >= row.expiresAt);
        expect(step.event).toMatchObject({ revision: row.revision + 1, status: step.status });
        expect(step.guard).toBe(step.status === 'expired' ? 'due' : 'open');
        expect(step.status === 'expired').toBe(now >= row.expiresAt);
        // Events are for everybody who follows the stream: what a person wrote is not in them.
        expect(JSON.stringify(step.event)).not.toMatch(/No\.|Never\.|"a":/);
      }),
    );
  });

  it('refuses to change an ending that only a newer build knows', () => {
    const row = { ...rowIn('approved'), status: 'escalated' as ApprovalStatus };
    for (const command of Object.values(COMMANDS))
      expect(outcomeOf(row, command, CREATED_AT)).toBe(command.type === 'expire' ? 'same' : CONFLICT);
  });
});
