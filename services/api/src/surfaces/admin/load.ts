/** Loads records by id for the admin routes, within one tenant. What operators see of them is in `views/`. */

import {
  isMintedStream,
  isSameOwner,
  ownStreamOf,
  parseStreamPath,
  type StreamRef,
} from '@parley/core/domain/ids';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { DETACHED, type RunHead, UNOWNED } from '@parley/shared/domain/runs/run';
import type { AdminDeps } from './deps.ts';
import { type SeenTurn, stateOfTurn } from './views/turn-view.ts';

/** A question of a tenant, with the agent whose turn asked it. */
interface LoadedQuestion {
  readonly row: Row;
  readonly now: number;
  readonly agent: string | undefined;
}

interface LoadedApproval {
  readonly row: ApprovalRow;
  readonly now: number;
}

/** A tenant's questions with these ids. */
export async function loadQuestions(
  deps: Pick<AdminDeps, 'records' | 'runs'>,
  tenant: string,
  ids: readonly string[],
): Promise<(LoadedQuestion | undefined)[]> {
  const { records, now } = await deps.records.readMany(ids);
  const rows = records.map((record) =>
    record?.family === 'elicitation' && record.row.definition.tenant === tenant ? record.row : undefined,
  );
  const agents = await agentsOf(
    deps,
    rows.filter((row) => row !== undefined),
  );
  return rows.map((row) => row && { row, now, agent: agents.get(row.id) });
}

/** The agents whose turns asked, by question. Questions of services have none. */
export async function agentsOf(
  { runs }: Pick<AdminDeps, 'runs'>,
  rows: readonly Row[],
): Promise<Map<string, string>> {
  const asked = rows.filter(
    ({ id, definition }) =>
      isMintedStream(definition.streamRequestId) && definition.streamRequestId !== ownStreamOf(id),
  );
  const heads = await runs.heads(asked.map(({ definition }) => definition));
  return new Map(
    asked.flatMap(({ id }, at) => {
      const agent = heads[at]?.agent;
      return agent === undefined ? [] : [[id, agent] as const];
    }),
  );
}

/** A tenant's approvals with these ids. */
export async function loadApprovals(
  { records }: Pick<AdminDeps, 'records'>,
  tenant: string,
  ids: readonly string[],
): Promise<(LoadedApproval | undefined)[]> {
  const read = await records.readMany(ids);
  return read.records.map((record) =>
    record?.family === 'approval' && record.row.definition.tenant === tenant
      ? { row: record.row, now: read.now }
      : undefined,
  );
}

/** A tenant's turns at these paths. */
export async function loadTurns(
  deps: Pick<AdminDeps, 'runs' | 'heartbeats'>,
  tenant: string,
  paths: readonly string[],
): Promise<(SeenTurn | undefined)[]> {
  const streams = paths.map(parseStreamPath);
  const own = streams.filter((stream): stream is StreamRef => stream?.tenant === tenant);
  const seen = await seeTurns(deps, await deps.runs.heads(own));
  return streams.map((stream) =>
    stream === undefined
      ? undefined
      : seen.find(
          (turn) =>
            turn !== undefined &&
            isSameOwner(turn.head, stream) &&
            turn.head.streamRequestId === stream.streamRequestId,
        ),
  );
}

/** The states of runs. Each pod is looked up once. */
export async function seeTurns(
  { heartbeats }: Pick<AdminDeps, 'heartbeats'>,
  heads: readonly (RunHead | undefined)[],
): Promise<(SeenTurn | undefined)[]> {
  const pods = new Map<string, Promise<boolean>>();
  const isAlive = (owner: string) => {
    if (owner === UNOWNED || owner === DETACHED) return false;
    const known = pods.get(owner) ?? heartbeats.alive(owner);
    pods.set(owner, known);
    return known;
  };
  return Promise.all(
    heads.map(
      async (head) =>
        head && {
          head,
          state: stateOfTurn(head, head.status === 'running' && (await isAlive(head.owner))),
        },
    ),
  );
}
