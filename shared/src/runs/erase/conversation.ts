/**
 * The order of steps that removes one conversation completely, even while turns of it run. Removing the data of a part is in
 * `remove-part.ts`, and erasing a person in `user.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyError } from '@parley/core/domain/errors';
import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { ConversationRef, Run } from '../../domain/runs/run.ts';
import type { Engine } from '../../elicitations/engine.ts';
import { openPages } from '../../elicitations/open-pages.ts';
import type { Backend } from '../../ports/backend.ts';
import { withdraw } from '../open-questions.ts';
import { endTurn, takeTurn } from './end-turns.ts';
import { type RemovePartDeps, removePart } from './remove-part.ts';

interface EraseConversationDeps extends RemovePartDeps {
  readonly backend: RemovePartDeps['backend'] &
    Pick<Backend, 'runs' | 'runQueue' | 'conversations' | 'elicitations' | 'approvals' | 'ownerRecords'>;
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord' | 'approvals'>;
  /** See the same setting for erasing a user. */
  readonly graceMs: number;
}

const ROWS_PAGE = 100;
// Records of these kinds are named `<what>/<turn>/<which>`.
const KINDS_OF_TURNS = ['a2a', 'pushes'] as const;
// A turn that begins during the removal is also ended and removed, in another attempt.
const ATTEMPTS_MAX = 5;

/**
 * Removes a conversation with its turns, their delegates, and all questions and approvals that name it, and revokes its
 * remembered approvals. Running turns are first stopped, on whichever pod, and open records withdrawn. Returns false if there
 * is no such conversation. After an interruption, the same call continues. Throws `unavailable`, or `turn_running` when turns
 * begin faster than they can be removed.
 */
export async function eraseConversation(
  deps: EraseConversationDeps,
  { tenant, userId, conversationId }: ConversationRef,
): Promise<boolean> {
  const owner = { tenant, userId };
  const conversation = { ...owner, conversationId };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // This is repeated in every call: clients choose conversation ids, and a later conversation with this id must ask again.
    await deps.engine.approvals.grants.revokeIn(conversation);
    const turnIds = await turnIdsOf(deps, conversation);
    const { running, last } = await deps.backend.conversations.read(conversation);
    const found = [...turnIds, ...(await elicitationIdsOf(deps, conversation, turnIds))];
    if (found.length === 0 && running === undefined && last === undefined) return attempt > 0;
    await endAll(deps, conversation, turnIds);
    const elicitationIds = await elicitationIdsOf(deps, conversation, turnIds);
    await removeRecords(deps, owner, turnIds);
    await removePart(deps, owner, {
      elicitationIds,
      turnIds,
      conversationIds: [conversationId],
      streamRequestIds: [],
      idempotencyKeys: [],
    });
  }
  throw new ParleyError('turn_running', 'Another turn of this conversation has begun; delete it again.');
}

/** The stored turns of a conversation, with the runs of their delegates. */
async function turnIdsOf(
  { backend: { runs, erasure } }: EraseConversationDeps,
  { conversationId, ...owner }: ConversationRef,
): Promise<string[]> {
  const found = new Set<string>();
  const delegated: [id: string, by: string][] = [];
  for await (const page of erasure.turns(owner)) {
    const stands = await Promise.all(
      page.map((streamRequestId) => runs.standing({ ...owner, streamRequestId })),
    );
    for (const [at, id] of page.entries()) {
      const standing = stands[at];
      if (standing?.parent !== undefined) delegated.push([id, standing.parent.streamRequestId]);
      else if (standing?.conversationId === conversationId) found.add(id);
    }
  }
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [id, by] of delegated) if (found.has(by)) found.add(id);
  }
  return [...found];
}

/** Ends running turns and open records, and gives their readers time to read that. */
async function endAll(
  { backend: { runs, runQueue }, engine, graceMs }: EraseConversationDeps,
  { conversationId, ...owner }: ConversationRef,
  turnIds: readonly string[],
): Promise<void> {
  const streams = turnIds.map((streamRequestId): StreamRef => ({ ...owner, streamRequestId }));
  const taken = (await Promise.all(streams.map((stream) => takeTurn(runs, stream)))).filter(
    (turn) => turn !== undefined,
  );
  let withdrawn = 0;
  const pages = openPages((request) => engine.openRecords(request), { owner, conversationId });
  for await (const { records, now } of pages) {
    withdrawn += records.length;
    await Promise.all(
      records.map((record) => withdraw(engine, owner.tenant, record.row.id, { seen: { ...record, now } })),
    );
  }
  for (const one of taken) await endTurn(runs, one);
  if (withdrawn + taken.length > 0) await sleep(graceMs);
  // The end of a question offers the run that waited for it, so the offer is withdrawn.
  await Promise.all(taken.map(({ run, term }) => runQueue.withdraw(run, term)));
}

/** Removes the records that are named after turns, such as the messages that A2A accepted as answers. */
async function removeRecords(
  { backend: { ownerRecords } }: EraseConversationDeps,
  owner: Owner,
  turnIds: readonly string[],
): Promise<void> {
  const turns = new Set(turnIds);
  for (const kind of KINDS_OF_TURNS) {
    const stored = await ownerRecords[kind].list(owner, '');
    const names = stored.map(({ name }) => name).filter((name) => turns.has(name.split('/')[1] ?? ''));
    await Promise.all(names.map((name) => ownerRecords[kind].remove(owner, name)));
  }
}

/** The questions and approvals of a conversation: listed ones, and those that the records of its turns name. */
async function elicitationIdsOf(
  { backend }: EraseConversationDeps,
  { conversationId, ...owner }: ConversationRef,
  turnIds: readonly string[],
): Promise<string[]> {
  const runs = await Promise.all(
    turnIds.map((streamRequestId) => backend.runs.read({ ...owner, streamRequestId })),
  );
  const ids = new Set(runs.flatMap(({ run }) => pausesOf(run)));
  for (const family of [backend.elicitations, backend.approvals]) {
    let cursor: string | undefined;
    do {
      const page = await family.page({
        owner,
        conversationId,
        limit: ROWS_PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      for (const { id } of page.rows) ids.add(id);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return [...ids];
}

function pausesOf(run: Run | undefined): string[] {
  return (run?.pauses ?? []).map(({ elicitationId }) => elicitationId);
}
