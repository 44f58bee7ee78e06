import type { DeliveryFailure, OutboxTask } from '../../ports/delivery/outbox.ts';

const MEMBER = /^(\S+) (\S+)(?: (\d{1,15}))?$/;

/** The outbox member of a task: `<kind> <subject>`, followed by the version if there is one. */
export function memberOf({ kind, subject, version }: OutboxTask): string {
  return version === undefined ? `${kind} ${subject}` : `${kind} ${subject} ${version}`;
}

/** The fields that these members may have in the hash of leases. */
export function leaseFields(members: readonly string[]): string[] {
  return members.flatMap((member) => [
    member,
    `${member} tried`,
    `${member} lent`,
    `${member} noted`,
    `${member} failed`,
    `${member} tenant`,
  ]);
}

/** The text of a failure in the hash of leases: `<code>`, followed by the status if there is one. */
export function failureText({ code, status }: DeliveryFailure): string {
  return status === undefined ? code : `${code} ${status}`;
}

/** Parses a text of `failureText`; undefined for an empty one. */
export function failureOf(text: string): DeliveryFailure | undefined {
  const [code = '', status] = text.split(' ');
  if (code === '') return undefined;
  return { code, ...(status !== undefined && { status: Number(status) }) };
}

/** Parses a member of a bucket; undefined for any other text. */
export function parseMember(member: string, bucket: number): OutboxTask | undefined {
  const [, kind, subject, version] = MEMBER.exec(member) ?? [];
  if (kind === undefined || subject === undefined) return undefined;
  return { kind, subject, bucket, ...(version !== undefined && { version: Number(version) }) };
}
