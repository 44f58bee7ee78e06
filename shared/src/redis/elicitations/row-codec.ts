import type { Definition, Row } from '../../domain/elicitations/row.ts';
import type { Settlement } from '../../domain/elicitations/settlement.ts';
import type { Status } from '../../domain/elicitations/status.ts';

/** Reads a row from the flat field-value reply of HGETALL; nothing when the hash is empty. */
export function rowOf(id: string, fields: readonly unknown[]): Row | undefined {
  if (fields.length === 0) return undefined;
  const hash = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2)
    hash.set(String(fields[index]), String(fields[index + 1]));
  const settlement = hash.get('settlement');
  const settledAt = hash.get('settledAt');
  return {
    id,
    definition: JSON.parse(hash.get('definition') ?? '{}') as Definition,
    status: hash.get('status') as Status,
    revision: Number(hash.get('revision')),
    createdAt: Number(hash.get('createdAt')),
    expiresAt: Number(hash.get('expiresAt')),
    ...(settlement !== undefined && {
      settlement: JSON.parse(settlement) as Settlement,
    }),
    ...(settledAt !== undefined && { settledAt: Number(settledAt) }),
  };
}
