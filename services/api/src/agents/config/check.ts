import { findDelegationCycles } from './delegation.ts';
import { type Environment, faultsOfAddresses, faultsOfEnvironment, faultsOfKeys } from './environment.ts';
import { findingsOf, sentenceOf } from './error-map.ts';
import type { Finding } from './fault.ts';
import { AgentsFile } from './file.ts';
import { faultsOfDefault, faultsOfHeaders, faultsOfReferences, idsOf } from './references.ts';

export interface Checked {
  /** Absent if the schema refuses the file. */
  readonly parsed?: AgentsFile;
  readonly findings: readonly Finding[];
}

/** All faults of the values: first those of the schema, then those between entries that the schema accepts. */
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
    ...findDelegationCycles(data),
    ...faultsOfEnvironment(data, env),
    ...faultsOfKeys(data, env),
    ...faultsOfAddresses(data, env.NODE_ENV === 'production'),
  ];
  return first.success ? { parsed: data, findings: all } : { findings: all };
}

/** The file without what the schema refuses: an unknown key is removed alone, for any other fault the whole entry. */
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
