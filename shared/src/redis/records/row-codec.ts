import type { Extension, FamilyTypes, RowOf } from '@parley/core/domain/family';
import type { ElicitationTypes } from '../../domain/elicitations/types.ts';

/** Reads a row from the flat field-value reply of a script; undefined when the hash is empty. */
export function rowOf<T extends FamilyTypes = ElicitationTypes>(
  id: string,
  fields: readonly unknown[],
): RowOf<T> | undefined {
  const hash: Record<string, string> = {};
  for (let index = 0; index + 1 < fields.length; index += 2)
    hash[String(fields[index])] = String(fields[index + 1]);
  return rowOfHash<T>(id, hash);
}

/** Reads a row from the reply of HGETALL; undefined when the hash is empty. */
export function rowOfHash<T extends FamilyTypes = ElicitationTypes>(
  id: string,
  hash: Readonly<Record<string, string>>,
): RowOf<T> | undefined {
  return Object.keys(hash).length === 0 ? undefined : readRow<T>(id, hash);
}

function readRow<T extends FamilyTypes>(
  id: string,
  {
    definition,
    status,
    revision,
    createdAt,
    expiresAt,
    settlement,
    settledAt,
    extensions,
  }: Readonly<Record<string, string>>,
): RowOf<T> {
  return {
    id,
    definition: JSON.parse(definition ?? '{}') as T['definition'],
    status: status as T['status'],
    revision: Number(revision),
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    ...(settlement !== undefined && { settlement: JSON.parse(settlement) as T['settlement'] }),
    ...(settledAt !== undefined && { settledAt: Number(settledAt) }),
    ...(extensions !== undefined && { extensions: extensionsIn(extensions) }),
  };
}

/** Parses revisions and deadlines, separated by spaces. */
function extensionsIn(text: string): Extension[] {
  const numbers = text.split(' ').map(Number);
  return numbers.flatMap((revision, at) =>
    at % 2 === 0 ? [{ revision, expiresAt: numbers[at + 1] ?? 0 }] : [],
  );
}
