import { circlesIn } from './delegation.ts';
import { type Environment, faultsOfAddresses, faultsOfEnvironment } from './environment.ts';
import type { Finding } from './fault.ts';
import { AgentsFile } from './file.ts';
import { faultsOfDefault, faultsOfHeaders, faultsOfReferences, idsOf } from './references.ts';
import { findingsOf, sentenceOf } from './sentences.ts';

export interface Checked {
  /** Absent when the schema refuses something. */
  readonly parsed?: AgentsFile;
  readonly findings: readonly Finding[];
}

/** Everything wrong with the values: what the schema says first, then, of what it takes, how the entries fit together. */
export function checkAgents(value: unknown, env: Environment): Checked {
  const first = AgentsFile.safeParse(value, { error: sentenceOf });
  const findings = first.success ? [] : first.error.issues.flatMap(findingsOf);
  const usable = first.success ? first : AgentsFile.safeParse(without(value, findings));
  if (!usable.success) return { findings };
  const { data } = usable;
  const ids = idsOf(value);
  const all = [
    ...findings,
    ...faultsOfReferences(data, ids),
    ...faultsOfDefault(data, ids),
    ...faultsOfHeaders(data),
    ...circlesIn(data),
    ...faultsOfEnvironment(data, env),
    ...faultsOfAddresses(data, env.NODE_ENV === 'production'),
  ];
  return first.success ? { parsed: data, findings: all } : { findings: all };
}

/** The file without what the schema refuses: unknown keys alone, of anything else the whole entry. */
function without(value: unknown, findings: readonly Finding[]): unknown {
  const rest = structuredClone(value);
  for (const { path, at } of findings) {
    const doomed = at === 'key' ? path : path.slice(0, 2);
    const holder = doomed.slice(0, -1).reduce(within, rest);
    if (typeof holder === 'object' && holder !== null) Reflect.deleteProperty(holder, doomed.at(-1) ?? '');
  }
  return rest;
}

function within(holder: unknown, key: PropertyKey): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as Readonly<Record<PropertyKey, unknown>>)[key]
    : undefined;
}
