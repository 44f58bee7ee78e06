import { isParleyError, type ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { type Caller, unlessMissing } from '@parley/shared/domain/caller';
import type { AnswerInput } from '@parley/shared/elicitations/answer';
import { escaped } from '../mapping/text.ts';
import { callerOf, type ListenerDeps } from './deps.ts';

/** How records of one family are read and described. */
interface RecordReading<Row> {
  readonly read: (deps: ListenerDeps, caller: Caller, id: string) => Promise<{ readonly row: Row }>;
  /** How a record ended, as mrkdwn for the acting Slack user; undefined while it is open. */
  readonly overText: (row: Row, reader: { readonly user: string }) => string | undefined;
}

/** The place of a refusal: a person's record, and the Slack user who acts for the person. */
interface RefusedPlace {
  readonly owner: Owner;
  readonly id: string;
  readonly user: string;
}

/** The records of one family that belong to the acting person. */
export interface OwnRecords<Row> {
  /** The record, if it belongs to this person. Another person's record is undefined, like one that does not exist. */
  find(deps: ListenerDeps, owner: Owner, id: string): Promise<Row | undefined>;
  /** Why a Slack user's input was refused, as mrkdwn: because the record has ended, or else `message`. */
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

/** Records a person's input for a record. Returns why it was refused. Throws `unavailable`; Slack then shows a failure. */
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
