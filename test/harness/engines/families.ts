import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { type Row, toWire } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { InboxItem } from '@parley/shared/elicitations/inbox';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import { decideAs, requestApproval } from './approvals.ts';
import { answerQuestion, inputFor, serviceOf } from './questions.ts';

interface Seen {
  readonly row: RowOf<FamilyTypes>;
  readonly now: number;
}

/** One family of records as the contract drives it: what all families have, by the names that each has for it. */
export interface FamilyDriver {
  readonly name: string;
  open(
    engine: Engine,
    stream: StreamRef,
    more?: { timeoutSeconds?: number; key?: string; notify?: NotifyRules },
  ): Promise<Seen>;
  read(engine: Engine, stream: StreamRef, id: string): Promise<Seen>;
  wait(engine: Engine, stream: StreamRef, id: string): Promise<Seen>;
  withdraw(engine: Engine, stream: StreamRef, id: string, reason: string): Promise<Seen>;
  /** Makes the deadline of a record, as it was seen, so much later. */
  extend(engine: Engine, seen: Seen, seconds: number): Promise<Seen>;
  /** Different decisions of the owner, each with the status that it leads to. */
  readonly decisions: readonly {
    readonly status: string;
    readonly send: (engine: Engine, stream: StreamRef, id: string) => Promise<Seen>;
  }[];
  /** Id and status of what a reader of a stream or an inbox gets about a record of the family. */
  shown(item: WatchItem | InboxItem): { readonly id: string; readonly status: string } | undefined;
  /** Notes that the owner was sent the record. */
  see(engine: Engine, owner: Owner, row: Seen): Promise<void>;
  /** Ids of the family's records in a snapshot of an inbox. */
  listed(item: Extract<InboxItem, { type: 'snapshot' }>): string[];
  readonly events: { readonly request: string; readonly updated: string; readonly resolved: string };
}

export const FAMILY_DRIVERS: readonly FamilyDriver[] = [
  {
    name: 'elicitation',
    open: (engine, stream, { key, notify, timeoutSeconds = 600 } = {}) =>
      engine.ask({
        tenant: stream.tenant,
        input: inputFor(stream, { timeoutSeconds }),
        notify,
        ...(key !== undefined && { idempotencyKey: key, keyDecides: true }),
      }),
    read: (engine, stream, id) => engine.read(serviceOf(stream), id),
    wait: (engine, stream, id) => engine.wait({ caller: serviceOf(stream), id }),
    withdraw: (engine, stream, id, reason) => engine.withdraw({ caller: serviceOf(stream), id, reason }),
    extend: (engine, { row, now }, seconds) =>
      engine.extend({
        caller: serviceOf(row.definition),
        id: row.id,
        seconds,
        seen: { row: row as Row, now },
      }),
    decisions: [
      {
        status: 'accepted',
        send: (engine, stream, id) => answerQuestion(engine, stream, id, 'accept', { colour: 'red' }),
      },
      { status: 'declined', send: (engine, stream, id) => answerQuestion(engine, stream, id, 'decline') },
      { status: 'cancelled', send: (engine, stream, id) => answerQuestion(engine, stream, id, 'cancel') },
    ],
    shown: (item) =>
      'elicitation' in item
        ? { id: item.elicitation.elicitationId, status: item.elicitation.status }
        : undefined,
    see: (engine, owner, { row, now }) =>
      engine.notices.seen(owner, toWire(row as Row, { now, content: false })),
    listed: ({ elicitations }) => elicitations.map(({ elicitationId }) => elicitationId),
    events: {
      request: 'elicitation-request',
      updated: 'elicitation-updated',
      resolved: 'elicitation-resolved',
    },
  },
  {
    name: 'approval',
    open: (engine, stream, { key, notify, timeoutSeconds = 600 } = {}) =>
      requestApproval(engine, stream, { timeoutSeconds, ...(notify !== undefined && { notify }) }, key),
    read: (engine, stream, id) => engine.approvals.read(serviceOf(stream), id),
    wait: (engine, stream, id) => engine.approvals.wait({ caller: serviceOf(stream), id }),
    withdraw: (engine, stream, id, reason) =>
      engine.approvals.withdraw({ caller: serviceOf(stream), id, reason }),
    extend: (engine, { row, now }, seconds) =>
      engine.approvals.extend({
        caller: serviceOf(row.definition),
        id: row.id,
        seconds,
        seen: { row: row as ApprovalRow, now },
      }),
    decisions: [
      {
        status: 'approved',
        send: (engine, stream, id) => decideAs(engine, stream, id, { decision: 'approve' }),
      },
      {
        status: 'edited',
        send: (engine, stream, id) =>
          decideAs(engine, stream, id, {
            decision: 'edit',
            arguments: { booking: 'B-2', apiKey: '••••••' },
          }),
      },
      {
        status: 'denied',
        send: (engine, stream, id) =>
          decideAs(engine, stream, id, { decision: 'deny', reason: 'Not that one.' }),
      },
    ],
    shown: (item) =>
      'approval' in item ? { id: item.approval.approvalId, status: item.approval.status } : undefined,
    see: (engine, owner, { row, now }) =>
      engine.notices.seen(owner, toApprovalWire(row as ApprovalRow, { now, content: false })),
    listed: ({ approvals }) => approvals.map(({ approvalId }) => approvalId),
    events: { request: 'approval-request', updated: 'approval-updated', resolved: 'approval-resolved' },
  },
];
