import { isParleyError, type ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { type Caller, unlessMissing } from '@parley/shared/domain/caller';
import type { AnswerInput } from '@parley/shared/elicitations/answer';
import { escaped } from '../mapping/text.ts';
import { callerOf, type ListenerDeps } from './deps.ts';

/** How the records of one family are read and described. */
interface RecordReading<Row> {
  readonly read: (deps: ListenerDeps, caller: Caller, id: string) => Promise<{ readonly row: Row }>;
  /** The end of a record, as mrkdwn for the Slack user who asks; undefined while it is open. */
  readonly overText: (row: Row, reader: { readonly user: string }) => string | undefined;
}

/** What was refused: a record of a person, and the Slack user who acts for them. */
interface RefusedPlace {
  readonly owner: Owner;
  readonly id: string;
  readonly user: string;
}

/** The records of one family that belong to the person who acts in Slack. */
export interface OwnRecords<Row> {
  /** The record, if it is this person's. One of another person is undefined, as one that does not exist. */
  find(deps: ListenerDeps, owner: Owner, id: string): Promise<Row | undefined>;
  /** Why what a Slack user sent was refused, as mrkdwn: the record has ended, or `message`. */
  refusalText(deps: ListenerDeps, place: RefusedPlace, message: string): Promise<string>;
}

/** Makes the access to one family of records. */
export function createOwnRecords<Row>({ read, overText }: RecordReading<Row>): OwnRecords<Row> {
  async function find(deps: ListenerDeps, owner: Owner, id: string): Promise<Row | undefined> {
    return (await unlessMissing(read(deps, callerOf(owner), id)))?.row;
  }

  return {
    find,
    async refusalText(deps, { owner, id, user }, message) {
      const row = await find(deps, owner, id);
      return (row === undefined ? undefined : overText(row, { user })) ?? escaped(message);
    },
  };
}

/** Records what a person says to a record; returns why it was refused. Throws `unavailable`: Slack then shows a failure. */
export async function settleInSlack(
  deps: ListenerDeps,
  owner: Owner,
  id: string,
  record: (by: Omit<AnswerInput, 'response'>) => Promise<unknown>,
): Promise<ParleyError | undefined> {
  const caller = callerOf(owner);
  try {
    await record({ caller, id, surface: 'slack', admitted: deps.limits.call(caller, true, id) });
    deps.nudge();
    return undefined;
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
    return error;
  }
}
