import { isTerminal, STATUSES, type Status } from '@parley/core/domain/elicitations/status';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { Command } from '@parley/shared/domain/elicitations/commands';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { eventsOfRow } from '@parley/shared/domain/elicitations/row-events';
import { type Decision, type Step, transition } from '@parley/shared/domain/elicitations/transition';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentFor, QUESTIONS } from '../../harness/engines/questions.ts';
import { sized } from '../../harness/proof-size.ts';
import {
  CELLS,
  COLUMNS,
  type Column,
  type From,
  KINDS,
  type Kind,
} from '../../harness/tables/elicitation-transitions.ts';

const CREATED_AT = 1_700_000_000_000;
const EXPIRES_AT = CREATED_AT + 600_000;
const SECRET = 'hunter2-the-answer';

const SETTLEMENTS: Readonly<Record<Status, Row['settlement']>> = {
  pending: undefined,
  opened: undefined,
  accepted: { action: 'accept', surface: 'api' },
  declined: { action: 'decline', surface: 'api' },
  cancelled: { action: 'cancel', surface: 'api' },
  expired: {},
  withdrawn: { reason: 'superseded' },
};

function rowIn(kind: Kind, status: Status, revision = 1): Row {
  const question = QUESTIONS[kind];
  const { requestedSchema, completion, ...asked } = {
    requestedSchema: undefined,
    completion: 'client' as const,
    ...question,
  };
  const settled = SETTLEMENTS[status];
  const content = status === 'accepted' ? contentFor(kind, 'accept') : undefined;
  return {
    id: 'el_00AAAAAAAAAAAAAAAAAAAAAA',
    definition: {
      tenant: 'acme',
      userId: 'ada',
      streamRequestId: 's',
      conversationId: 'c',
      context: { trigger: 'agent' },
      ...asked,
      ...(asked.mode === 'url' && { completion }),
      ...(kind === 'form on its page' && { answerUrl: 'https://parley.example/auth/answer/el_1' }),
      ...(requestedSchema !== undefined && { requestedSchema: requestedSchema as unknown as FormSchema }),
    },
    status,
    revision,
    createdAt: CREATED_AT,
    expiresAt: EXPIRES_AT,
    ...(settled !== undefined && {
      settlement: { ...settled, ...(content !== undefined && { content: content as { colour: string } }) },
      settledAt: CREATED_AT + 1,
    }),
  };
}

function commandOf(kind: Kind, column: Column): Command {
  const content = contentFor(kind, column);
  switch (column) {
    case 'open':
    case 'accept':
    case 'other':
    case 'wrong':
      return { type: 'accept', surface: 'chat', ...(content !== undefined && { content }) };
    case 'decline':
    case 'cancel':
      return { type: column, surface: 'chat' };
    case 'laden':
      return { type: 'decline', surface: 'chat', content: {} };
    case 'complete':
      return { type: 'complete', surface: 'connect' };
    case 'withdraw':
      return { type: 'withdraw', reason: 'run_stopped' };
    case 'expire':
      return { type: 'expire' };
  }
}

/** What comes of a command, with expire-first taken as the engine takes it. */
function outcomeOf(row: Row, command: Command, now: number) {
  const decision = transition(row, command, now);
  switch (decision.type) {
    case 'unchanged':
      return 'same';
    case 'refused':
      return { refused: decision.refusal.code };
    case 'commit':
      return { moves: decision.step.status };
    case 'expire-first': {
      expect(decision.step.status).toBe('expired');
      const after = transition(applied(row, decision.step, now), command, now);
      return after.type === 'refused' ? { refused: after.refusal.code } : after.type;
    }
  }
}

function applied(row: Row, step: Step, now: number): Row {
  return {
    ...row,
    status: step.status,
    revision: row.revision + 1,
    ...(isTerminal(step.status) && { settlement: step.settlement ?? {}, settledAt: now }),
  };
}

function statusOf(from: From): Status {
  if (from === 'overdue') return 'pending';
  return from === 'opened overdue' ? 'opened' : from;
}

describe('the transition table', () => {
  for (const { kind, from, command, outcome } of CELLS) {
    it(`${kind}: ${from}, ${command}`, () => {
      const row = rowIn(kind, statusOf(from));
      const overdue = from.endsWith('overdue');
      // A settled row does not change, whatever the time.
      const times = isTerminal(row.status) ? [CREATED_AT, EXPIRES_AT + 1] : [];
      const open = [CREATED_AT, EXPIRES_AT - 1];
      const late = [EXPIRES_AT, EXPIRES_AT + 1, EXPIRES_AT + 1e9];
      for (const now of [...times, ...(overdue ? late : open)]) {
        expect(outcomeOf(row, commandOf(kind, command), now)).toEqual(outcome);
      }
    });
  }
});

const anyKind = fc.constantFrom(...KINDS);
const anyRow = fc
  .tuple(anyKind, fc.constantFrom(...STATUSES), fc.integer({ min: 1, max: 9 }))
  .filter(
    ([kind, status]) => status !== 'opened' || ['form on its page', 'url, server completion'].includes(kind),
  )
  .map(([kind, status, revision]) => rowIn(kind, status, revision));
const anyNow = fc.oneof(
  fc.integer({ min: CREATED_AT, max: EXPIRES_AT + 600_000 }),
  fc.constantFrom(EXPIRES_AT - 1, EXPIRES_AT, EXPIRES_AT + 1),
);
const anyCommand = fc.oneof(
  fc.tuple(anyKind, fc.constantFrom(...COLUMNS)).map(([kind, column]) => commandOf(kind, column)),
  fc.record({
    type: fc.constantFrom('accept' as const, 'decline' as const, 'cancel' as const),
    content: fc.oneof(
      fc.anything(),
      fc.constant({ colour: 'red', note: SECRET }),
      fc.constant({ colour: SECRET }),
    ),
    responseId: fc.string(),
    surface: fc.constant('chat'),
  }),
);

function stepOf(decision: Decision): Step | undefined {
  return 'step' in decision ? decision.step : undefined;
}

function always(check: (row: Row, command: Command, now: number) => void): void {
  fc.assert(fc.property(anyRow, anyCommand, anyNow, check), { numRuns: sized(2_000) });
}

describe('a later deadline', () => {
  const REFUSED: Readonly<Partial<Record<Status, string>>> = { pending: '', opened: '', expired: 'expired' };
  it.each(STATUSES)('of what is %s', (status) => {
    const row = rowIn('url, server completion', status);
    const to = (expiresAt: number) => outcomeOf(row, { type: 'extend', expiresAt }, CREATED_AT);
    const refused = REFUSED[status] ?? 'already_settled';
    const expected = refused === '' ? { moves: status } : { refused };
    expect(to(EXPIRES_AT + 1)).toEqual(expected);
    expect(to(CREATED_AT + 604_800_000)).toEqual(expected);
    if (refused !== '') return;
    expect(to(EXPIRES_AT)).toBe('same');
    expect(to(CREATED_AT + 604_800_001)).toEqual({ refused: 'invalid_request' });
    const { step } = transition(row, { type: 'extend', expiresAt: EXPIRES_AT + 1 }, CREATED_AT) as {
      step: Step;
    };
    expect(step).toMatchObject({
      guard: 'open',
      event: { type: 'elicitation-updated', revision: 2, status },
    });
  });
});

describe('every move', () => {
  it('raises the revision by one and appends an event', () => {
    always((row, command, now) => {
      const step = stepOf(transition(row, command, now));
      if (step === undefined) return;
      expect(step.event).toMatchObject({
        elicitationId: row.id,
        revision: row.revision + 1,
        status: step.status,
        type: isTerminal(step.status) ? 'elicitation-resolved' : 'elicitation-updated',
      });
      expect(step.settlement !== undefined).toBe(isTerminal(step.status));
    });
  });

  it('leaves a row from which its event and all earlier ones follow', () => {
    const walk = fc.tuple(anyKind, fc.array(fc.tuple(anyCommand, anyNow), { maxLength: 6 }));
    fc.assert(
      fc.property(walk, ([kind, moves]) => {
        let row = rowIn(kind, 'pending');
        const events = eventsOfRow(row);
        for (const [command, now] of moves) {
          const step = stepOf(transition(row, command, now));
          if (step === undefined) continue;
          events.push(step.event);
          row = applied(row, step, now);
        }
        expect(eventsOfRow(row)).toEqual(events);
      }),
      { numRuns: sized(2_000) },
    );
  });

  it('puts no answer into an event or a refusal', () => {
    always((row, command, now) => {
      const decision = transition(row, command, now);
      const output = decision.type === 'refused' ? decision.refusal : stepOf(decision)?.event;
      expect(JSON.stringify(output ?? {})).not.toContain(SECRET);
      expect(output ?? {}).not.toHaveProperty('content');
      expect(output ?? {}).not.toHaveProperty('responseId');
    });
  });

  it('expires an overdue row before anything else, and nothing that is not due', () => {
    always((row, command, now) => {
      if (isTerminal(row.status)) return;
      const decision = transition(row, command, now);
      const step = stepOf(decision);
      if (now < row.expiresAt) {
        expect(step?.status).not.toBe('expired');
        if (step !== undefined) expect(step.guard).toBe('open');
      } else if (decision.type !== 'refused') {
        expect(decision.type).toBe(command.type === 'expire' ? 'commit' : 'expire-first');
        expect(step).toMatchObject({ status: 'expired', guard: 'due' });
      }
    });
  });

  it('does not modify row or command, and is deterministic', () => {
    always((row, command, now) => {
      const before = structuredClone(row);
      const sent = fc.stringify(command);
      const decision = transition(row, command, now);
      expect(row).toEqual(before);
      expect(fc.stringify(command)).toBe(sent);
      expect(transition(row, command, now)).toEqual(decision);
    });
  });
});

describe('the same answer again', () => {
  it('is recognised whatever the order of its keys and its response id', () => {
    const row = rowIn('form', 'pending');
    const first: Command = {
      type: 'accept',
      content: { colour: 'red', note: 'x' },
      responseId: 'r1',
      surface: 'chat',
    };
    const decision = transition(row, first, CREATED_AT);
    if (decision.type !== 'commit') throw new Error('the answer was not taken');
    const settled = applied(row, decision.step, CREATED_AT);
    const again: Command = {
      type: 'accept',
      content: { note: 'x', colour: 'red' },
      responseId: 'r2',
      surface: 'slack',
    };
    expect(transition(settled, again, EXPIRES_AT + 1)).toEqual({ type: 'unchanged' });
    const less: Command = { type: 'accept', content: { colour: 'red' }, surface: 'chat' };
    expect(transition(settled, less, CREATED_AT)).toMatchObject({ refusal: { code: 'already_settled' } });
  });

  it('counts an accept without content as an empty one', () => {
    const base = rowIn('form', 'pending');
    const definition = {
      ...base.definition,
      requestedSchema: { type: 'object', properties: { note: { type: 'string' } } } as FormSchema,
    };
    const row: Row = { ...base, definition };
    const decision = transition(row, { type: 'accept', surface: 'chat' }, CREATED_AT);
    expect(stepOf(decision)?.settlement).toMatchObject({ action: 'accept', content: {} });
  });
});
