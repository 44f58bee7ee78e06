import type { DeliveryFailure, OutboxTask } from '../../ports/delivery/outbox.ts';

const MEMBER = /^(\S+) (\S+)(?: (\d{1,15}))?$/;

/** A task as a member of its outbox: `<kind> <subject>`, and the version where the subject has one. */
export function memberOf({ kind, subject, version }: OutboxTask): string {
  return version === undefined ? `${kind} ${subject}` : `${kind} ${subject} ${version}`;
}

/** The fields in which the hash of leases has something about these members. */
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

/** Why an attempt failed, as the hash of leases has it: `<code>`, and the status where there is one. */
export function failureText({ code, status }: DeliveryFailure): string {
  return status === undefined ? code : `${code} ${status}`;
}

/** Reads `failureText`; undefined for an empty text. */
export function failureOf(text: string): DeliveryFailure | undefined {
  const [code = '', status] = text.split(' ');
  if (code === '') return undefined;
  return { code, ...(status !== undefined && { status: Number(status) }) };
}

/** The task of a member in a bucket; nothing for any other text. */
export function parseMember(member: string, bucket: number): OutboxTask | undefined {
  const [, kind, subject, version] = MEMBER.exec(member) ?? [];
  if (kind === undefined || subject === undefined) return undefined;
  return { kind, subject, bucket, ...(version !== undefined && { version: Number(version) }) };
}
