/** Loads outstanding deliveries and dead letters for operators. Their form on the wire is in `view.ts`. */

import { bucketOf, bucketOfRecordId, isApprovalId, type StreamRef } from '@parley/core/domain/ids';
import { A2A_DELIVER, parseDeliverTask } from '@parley/shared/delivery/a2a-push/store';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import type { DeadLetter } from '@parley/shared/ports/delivery/dead-letters';
import { type OutboxStanding, type OutboxTask, streamOfSubject } from '@parley/shared/ports/delivery/outbox';
import type { StoredRecord } from '@parley/shared/ports/elicitations/elicitations';
import type { ListPlace, ListSliceRequest } from '@parley/shared/ports/tenant-lists';
import type { AdminDeps } from '../deps.ts';

type LoadDeps = Pick<AdminDeps, 'records' | 'outbox' | 'deadLetters' | 'pushHostOf'>;

/** The subject of a delivery. */
interface DeliverySubject {
  readonly elicitationId?: string;
  readonly approvalId?: string;
  /** Absent if the record no longer exists. */
  readonly stream?: StreamRef;
}

/** A delivery that is outstanding (`standing`), or that was given up (`letter`). */
export interface SeenDelivery {
  readonly id: string;
  readonly kind: string;
  readonly about: DeliverySubject;
  /** The host of its receiver. */
  readonly target?: string | undefined;
  readonly standing?: OutboxStanding | undefined;
  readonly letter?: DeadLetter | undefined;
  /** When it was recorded or given up, in ms. */
  readonly at: number;
  readonly now: number;
}

const WEBHOOK = webhookTask('', 0).kind;

/** The task at a place in the list of deliveries; undefined if this version cannot read it. */
export function taskOf(member: string): OutboxTask | undefined {
  const [kind = '', subject = ''] = member.split(' ');
  const stream = streamOfSubject(subject);
  const bucket = stream === undefined ? bucketOfRecordId(subject) : bucketOf(stream);
  return bucket === undefined ? undefined : { kind, subject, bucket };
}

/** The outstanding deliveries at these places; undefined for those that are done. */
export async function loadOutstanding(
  deps: LoadDeps,
  places: readonly ListPlace[],
): Promise<(SeenDelivery | undefined)[]> {
  const listed = places.flatMap(({ at, member }) => {
    const task = taskOf(member);
    return task === undefined ? [] : [{ at, member, task }];
  });
  const [{ now, standings }, records] = await Promise.all([
    deps.outbox.findMany(listed.map(({ task }) => task)),
    recordsOf(
      deps,
      listed.map(({ task }) => task.subject),
    ),
  ]);
  const seen = await Promise.all(
    listed.map(async ({ at, task, member }, index) => {
      const standing = standings[index];
      if (standing === undefined) return undefined;
      return [
        member,
        { ...(await seeTask(deps, task, records.get(task.subject))), standing, at, now },
      ] as const;
    }),
  );
  const byMember = new Map(seen.filter((one) => one !== undefined));
  return places.map(({ member }) => byMember.get(member));
}

async function seeTask(deps: LoadDeps, task: OutboxTask, record: StoredRecord | undefined) {
  const { kind, subject } = task;
  if (kind === A2A_DELIVER) {
    const { stream, slot } = parseDeliverTask(task) ?? {};
    const target = stream && slot !== undefined ? await deps.pushHostOf?.(stream, slot) : undefined;
    return {
      id: subject.split('/').slice(2).join('/'),
      kind: 'a2a',
      about: { ...(stream && { stream }) },
      target,
    };
  }
  const stream = streamOfSubject(subject);
  if (stream !== undefined) return { id: subject.split('/').slice(2).join('/'), kind, about: { stream } };
  const isWebhook = kind === WEBHOOK;
  return {
    id: isWebhook ? webhookIdOf(subject) : subject,
    kind,
    about: subjectOf(subject, record),
    target: isWebhook ? hostOf(record) : undefined,
  };
}

/** The list of a tenant's dead letters, which are deliveries that were given up. */
export function deadLetterList(deps: LoadDeps) {
  let letters: ReadonlyMap<string, DeadLetter> = new Map();
  return {
    async slice({ tenant, order, after, limit }: ListSliceRequest): Promise<readonly ListPlace[]> {
      const cursor = after === undefined ? {} : { cursor: `${after.at}.${after.member}` };
      const page = await deps.deadLetters.page({ tenant, order, limit, ...cursor });
      letters = new Map(page.deadLetters.map((letter) => [letter.deliveryId, letter]));
      return page.deadLetters.map(({ deliveryId, diedAt }) => ({ at: diedAt, member: deliveryId }));
    },
    async load(members: readonly string[]): Promise<(SeenDelivery | undefined)[]> {
      const found = members.map((member) => letters.get(member));
      const ids = found.flatMap((letter) => letter?.elicitationId ?? []);
      const { records, now } = await deps.records.readMany(ids);
      const byId = new Map(ids.map((id, at) => [id, records[at]]));
      return found.map((letter) => {
        if (letter === undefined) return undefined;
        const { deliveryId: id, elicitationId, diedAt: at } = letter;
        const record = byId.get(elicitationId);
        return {
          id,
          kind: WEBHOOK,
          about: subjectOf(elicitationId, record),
          target: hostOf(record),
          letter,
          at,
          now,
        };
      });
    },
    // Pages never contain an expired letter, so there is nothing to mend.
    mend: async () => undefined,
  };
}

async function recordsOf({ records }: LoadDeps, subjects: readonly string[]) {
  const ids = subjects.filter((subject) => bucketOfRecordId(subject) !== undefined);
  const read = await records.readMany(ids);
  return new Map(ids.map((id, at) => [id, read.records[at]]));
}

function subjectOf(id: string, record: StoredRecord | undefined): DeliverySubject {
  const { tenant, userId, streamRequestId } = record?.row.definition ?? {};
  const isWhole = tenant !== undefined && userId !== undefined && streamRequestId !== undefined;
  return {
    ...(isApprovalId(id) ? { approvalId: id } : { elicitationId: id }),
    ...(isWhole && { stream: { tenant, userId, streamRequestId } }),
  };
}

/** The host to which a record's webhook goes. The rest of the address may contain a secret. */
function hostOf(record: StoredRecord | undefined): string | undefined {
  const url = record?.family === 'elicitation' ? record.row.definition.webhookUrl : undefined;
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}
