import type { Definition, Row } from '../../domain/elicitations/row.ts';
import type { Settlement } from '../../domain/elicitations/settlement.ts';
import type { Status } from '../../domain/elicitations/status.ts';

/** Reads a row from the flat field-value reply of a script; nothing when the hash is empty. */
export function rowOf(id: string, fields: readonly unknown[]): Row | undefined {
  const hash: Record<string, string> = {};
  for (let index = 0; index + 1 < fields.length; index += 2)
    hash[String(fields[index])] = String(fields[index + 1]);
  return rowOfHash(id, hash);
}

/** Reads a row from the reply of HGETALL; nothing when the hash is empty. */
export function rowOfHash(id: string, hash: Readonly<Record<string, string>>): Row | undefined {
  return Object.keys(hash).length === 0 ? undefined : readRow(id, hash);
}

function readRow(
  id: string,
  {
    definition,
    status,
    revision,
    createdAt,
    expiresAt,
    settlement,
    settledAt,
  }: Readonly<Record<string, string>>,
): Row {
  return {
    id,
    definition: JSON.parse(definition ?? '{}') as Definition,
    status: status as Status,
    revision: Number(revision),
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    ...(settlement !== undefined && { settlement: JSON.parse(settlement) as Settlement }),
    ...(settledAt !== undefined && { settledAt: Number(settledAt) }),
  };
}
