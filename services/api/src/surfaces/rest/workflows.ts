/** The calls that record durable workflows. What a workflow does is in `clients/sdk`. */

import { UserId } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import { isReferenceId, type Owner } from '@parley/core/domain/ids';
import { type Caller, keyIdOf, notFound } from '@parley/shared/domain/caller';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { z } from 'zod';
import { ownerOf } from '../../http/reply.ts';
import { bearer, json, jsonBody, type PathParams, type Route, route } from '../../http/route.ts';

/** The recorded result of a workflow at one position. */
const WorkflowEntry = z
  .strictObject({
    kind: z.enum(['ask', 'step']),
    name: z.string().min(1).max(128).describe('The name of a step, or the digest of an ask.'),
    result: z
      .unknown()
      .optional()
      .describe('The result of a step as JSON, at most PARLEY_LIMIT_WORKFLOW_ENTRY_CHARACTERS characters.'),
  })
  .meta({ id: 'WorkflowEntry', description: 'What a workflow did at one position.' });
type WorkflowEntry = z.infer<typeof WorkflowEntry>;

const Recording = WorkflowEntry.extend({ userId: UserId });

const EXAMPLE_ENTRY = { kind: 'step', name: 'charge', result: { ok: true, value: 'ch_17' } } as const;

export interface WorkflowRoutesDeps {
  readonly records: OwnerRecords;
  /** How long an entry is stored after it was last written or read. */
  readonly keptMs: number;
  /** The maximum number of questions and steps of a workflow. */
  readonly positionsMax: number;
  readonly entryCharactersMax: number;
}

/** The calls that record durable workflows: one entry for each position, written once. */
export function workflowRoutes(deps: WorkflowRoutesDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/workflows/:workflowId/entries/:position',
      proof: bearer('ask'),
      body: jsonBody(Recording),
      docs: {
        group: 'Workflows',
        summary: 'Record what a workflow did at a position, unless that is recorded',
        description:
          'The first entry of a position stays; the reply is what is recorded. Entries lie with the user and are kept for PARLEY_RETENTION_SECONDS after they were last written or read. A name or kind other than yours means that the program has changed.',
        example: {
          body: { userId: 'alice', ...EXAMPLE_ENTRY },
          reply: EXAMPLE_ENTRY,
        },
        replies: { 200: { description: 'What is recorded', schema: WorkflowEntry } },
        errors: ['user_erased', 'too_large', 'workflow_quota'],
      },
      async handle({ caller, params, body, admitted }) {
        const { userId, ...entry } = body;
        const name = recordNameOf(params, deps);
        if (JSON.stringify(entry).length > deps.entryCharactersMax)
          throw new ParleyError('too_large', 'The entry is too large; record a reference instead.');
        await admitted;
        return json(200, await record(deps, { caller, owner: ownerOf(caller, userId), name }, entry));
      },
    }),
    route({
      method: 'GET',
      path: '/v1/workflows/:workflowId/entries/:position',
      proof: bearer('ask'),
      query: z.strictObject({ userId: UserId.describe('The user with whom the entry lies.') }),
      docs: {
        group: 'Workflows',
        summary: 'Read what a workflow did at a position',
        example: { query: '?userId=alice', reply: EXAMPLE_ENTRY },
        replies: { 200: { description: 'The entry', schema: WorkflowEntry } },
        errors: ['not_found', 'too_large'],
      },
      async handle({ caller, params, query: { userId }, admitted }) {
        const name = recordNameOf(params, deps);
        await admitted;
        const { entry } = await find(deps, { caller, owner: ownerOf(caller, userId), name });
        if (entry === undefined) throw notFound();
        return json(200, entry);
      },
    }),
  ];
}

/**
 * Positions that are too high are also refused when they are read, because a workflow runs a step if its entry is not found.
 */
function recordNameOf(
  { workflowId = '', position = '' }: PathParams,
  { positionsMax }: Pick<WorkflowRoutesDeps, 'positionsMax'>,
): string {
  if (!isReferenceId(workflowId) || !/^(?:0|[1-9]\d{0,8})$/.test(position)) throw notFound();
  if (Number(position) >= positionsMax)
    throw new ParleyError('too_large', `A workflow has at most ${positionsMax} questions and steps.`);
  return `workflow/${workflowId}/${position}`;
}

/** One position of a workflow, for the service key that calls. */
interface Position {
  readonly caller: Caller;
  readonly owner: Owner;
  readonly name: string;
}

/** A service key's entry at a position, and the name under which it is or would be stored. */
interface FoundEntry {
  readonly name: string;
  readonly entry?: WorkflowEntry;
}

/**
 * Finds an entry. Entries belong to the service key that recorded them. The first key at a position uses the plain name; other
 * keys add their id to it. Entries of earlier builds name no key and count as everybody's.
 */
async function find(
  { records, keptMs }: WorkflowRoutesDeps,
  { caller, owner, name }: Position,
): Promise<FoundEntry> {
  const keyId = keyIdOf(caller);
  const own = `${name}/${keyId}`;
  const first = parse(await records.read(owner, name, keptMs));
  if (first !== undefined && (first.keyId === undefined || first.keyId === keyId))
    return { name, entry: first.entry };
  const second = parse(await records.read(owner, own, keptMs));
  if (second !== undefined) return { name: own, entry: second.entry };
  return { name: first === undefined ? name : own };
}

/** Records an entry, unless the key already has one at the position. Returns the recorded entry. */
async function record(
  deps: WorkflowRoutesDeps,
  position: Position,
  entry: WorkflowEntry,
): Promise<WorkflowEntry> {
  const { name, entry: found } = await find(deps, position);
  if (found !== undefined) return found;
  const text = JSON.stringify({ ...entry, keyId: keyIdOf(position.caller) });
  const stored = await deps.records.putIfAbsent(position.owner, name, text, deps.keptMs);
  // Another request was faster, so the position is looked up again.
  return stored === text ? entry : record(deps, position, entry);
}

function parse(stored: string | undefined) {
  if (stored === undefined) return undefined;
  const { keyId, ...entry } = JSON.parse(stored) as WorkflowEntry & { readonly keyId?: string };
  return { keyId, entry };
}
