/**
 * The total table of what each command does to an elicitation; the only place that knows these rules. It is pure: reading,
 * committing and checking forms are elsewhere.
 */

import type { Content } from '@parley/core/domain/elicitations/elicitation';
import {
  type Action,
  isTerminal,
  type Status,
  type TerminalStatus,
} from '@parley/core/domain/elicitations/status';
import type {
  DecisionOf,
  ExpireCommand,
  ExtendCommand,
  Refusal,
  StepOf,
  WithdrawCommand,
} from '@parley/core/domain/family';
import { checkFormAnswer, sameContent } from '@parley/core/domain/forms/answer';
import { extend } from '../extend.ts';
import type { AnswerCommand, Command, CompleteCommand } from './commands.ts';
import type { Row } from './row.ts';
import { eventOf } from './row-events.ts';
import type { Settlement } from './settlement.ts';
import type { ElicitationTypes } from './types.ts';

/** One step of an elicitation. */
export type Step = StepOf<ElicitationTypes>;
export type Decision = DecisionOf<ElicitationTypes>;

/** The decision for one status and one command. */
type Cell<Given extends Command> = (row: Row, command: Given, now: number) => Decision;

interface StatusCells {
  readonly accept: Cell<AnswerCommand>;
  readonly decline: Cell<AnswerCommand>;
  readonly cancel: Cell<AnswerCommand>;
  readonly complete: Cell<CompleteCommand>;
  readonly expire: Cell<ExpireCommand>;
  readonly withdraw: Cell<WithdrawCommand>;
  readonly extend: Cell<ExtendCommand>;
}

const SETTLED_BY: Readonly<Record<Action, TerminalStatus>> = {
  accept: 'accepted',
  decline: 'declined',
  cancel: 'cancelled',
};

/** A status that has ended, as far as its row in the table says no more; and an ending of a newer build, which this one does not know. */
const ENDED: StatusCells = {
  accept: conflict,
  decline: conflict,
  cancel: conflict,
  complete: conflict,
  expire: unchanged,
  withdraw: conflict,
  extend: conflict,
};

/** The decision for every status and every command. A missing cell does not compile. */
const TRANSITIONS: Readonly<Record<Status, StatusCells>> = {
  pending: { accept, decline: settle, cancel: settle, complete, expire, withdraw, extend: later },
  opened: { accept, decline: settle, cancel: settle, complete, expire, withdraw, extend: later },
  accepted: { ...ENDED, accept: sameAnswer, complete: completed },
  declined: { ...ENDED, decline: sameAnswer, cancel: sameAnswer },
  cancelled: { ...ENDED, decline: sameAnswer, cancel: sameAnswer },
  expired: {
    accept: gone,
    decline: gone,
    cancel: gone,
    complete: gone,
    expire: unchanged,
    withdraw: gone,
    extend: gone,
  },
  withdrawn: { ...ENDED, withdraw: unchanged },
};

/**
 * Decides what a command does to an elicitation. `now` is the Redis clock in ms, read together with the row. An open row past
 * its deadline is first expired. The function is pure.
 */
export function transition(row: Row, command: Command, now: number): Decision {
  if ('content' in command && command.content !== undefined && !takesContent(row, command.type)) {
    return refuse({
      code: 'invalid_request',
      message: 'Only an accept in form mode carries content; leave it out.',
    });
  }
  if (!isTerminal(row.status) && now >= row.expiresAt && command.type !== 'expire') {
    return { type: 'expire-first', step: expiry(row) };
  }
  const known: Readonly<Partial<Record<string, StatusCells>>> = TRANSITIONS;
  const cells = known[row.status] ?? ENDED;
  switch (command.type) {
    case 'complete':
      return cells.complete(row, command, now);
    case 'expire':
      return cells.expire(row, command, now);
    case 'withdraw':
      return cells.withdraw(row, command, now);
    case 'extend':
      return cells.extend(row, command, now);
    default:
      return cells[command.type](row, command, now);
  }
}

function accept(row: Row, answer: AnswerCommand): Decision {
  if (isConsentToOpen(row, answer))
    return row.status === 'opened' ? unchanged() : { type: 'commit', step: stepTo(row, 'opened') };
  if (row.definition.mode === 'url') return settle(row, answer);
  const schema = row.definition.requestedSchema;
  if (schema === undefined) return settleBy(row, answer, {});
  const checked = checkFormAnswer(schema, answer.content ?? {});
  if (checked.ok) return settleBy(row, answer, checked.content);
  return refuse({
    code: 'invalid_answer',
    message: 'The answer does not fit the form; correct the fields named in errors and send it again.',
    issues: checked.issues,
  });
}

function settle(row: Row, answer: AnswerCommand): Decision {
  return settleBy(row, answer, undefined);
}

function settleBy(row: Row, answer: AnswerCommand, content: Content | undefined): Decision {
  const settlement: Settlement = {
    action: answer.type,
    ...(content !== undefined && { content }),
    ...(answer.responseId !== undefined && { responseId: answer.responseId }),
    surface: answer.surface,
  };
  return { type: 'commit', step: stepTo(row, SETTLED_BY[answer.type], settlement) };
}

function complete(row: Row, { surface, key }: CompleteCommand): Decision {
  if (!completesOnServer(row)) return notCompletable();
  return { type: 'commit', step: stepTo(row, 'accepted', { action: 'accept', surface, ...keyOf(key) }) };
}

function completed(row: Row): Decision {
  return completesOnServer(row) ? unchanged() : notCompletable();
}

function withdraw(row: Row, { reason, key }: WithdrawCommand): Decision {
  return { type: 'commit', step: stepTo(row, 'withdrawn', { reason, ...keyOf(key) }) };
}

function keyOf(key: string | undefined): Pick<Settlement, 'key'> {
  return key === undefined ? {} : { key };
}

function expire(row: Row, _command: ExpireCommand, now: number): Decision {
  return now >= row.expiresAt ? { type: 'commit', step: expiry(row) } : unchanged();
}

function later(row: Row, command: ExtendCommand): Decision {
  return extend<ElicitationTypes>(row, command, eventOf(row.id, row.revision + 1, row.status));
}

function expiry(row: Row): Step {
  return { ...stepTo(row, 'expired', {}), guard: 'due' };
}

function stepTo(row: Row, status: Status, settlement?: Settlement): Step {
  return {
    status,
    ...(settlement !== undefined && { settlement }),
    guard: 'open',
    event: eventOf(row.id, row.revision + 1, status, settlement),
  };
}

/** A repeat of the recorded answer succeeds. Another answer is refused. */
function sameAnswer(row: Row, answer: AnswerCommand): Decision {
  return isRecorded(row, answer) ? unchanged() : conflict(row);
}

function isRecorded(row: Row, answer: AnswerCommand): boolean {
  const { settlement, definition } = row;
  if (settlement?.action !== answer.type) return false;
  if (answer.type !== 'accept' || definition.requestedSchema === undefined) return true;
  if (isConsentToOpen(row, answer)) return true;
  const checked = checkFormAnswer(definition.requestedSchema, answer.content ?? {});
  return checked.ok && sameContent(checked.content, settlement.content ?? {});
}

function takesContent(row: Row, type: Command['type']): boolean {
  return type === 'accept' && row.definition.mode === 'form';
}

function completesOnServer(row: Row): boolean {
  return row.definition.mode === 'url' && row.definition.completion === 'server';
}

/** True for an accept that is only consent to open a page, where the question is then finished. It is no answer. */
function isConsentToOpen(row: Row, { content }: AnswerCommand): boolean {
  return completesOnServer(row) || (row.definition.answerUrl !== undefined && content === undefined);
}

function notCompletable(): Decision {
  return refuse({
    code: 'invalid_request',
    message:
      'Only a url elicitation with server completion can be completed; this one is finished by its answer.',
  });
}

function conflict(row: Row): Decision {
  return refuse({ code: 'already_settled', message: `This elicitation is already ${row.status}.` });
}

function refuse(refusal: Refusal): Decision {
  return { type: 'refused', refusal };
}

function gone(): Decision {
  return refuse({ code: 'expired', message: 'The deadline of this elicitation has passed.' });
}

function unchanged(): Decision {
  return { type: 'unchanged' };
}
