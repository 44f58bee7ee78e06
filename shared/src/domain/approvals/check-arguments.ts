import type { Arguments } from '@parley/core/domain/approvals/approval';
import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import type { Issue } from '@parley/core/domain/issue';
import { isRecord } from '@parley/core/domain/plain-record';
import { z } from 'zod';
import { isWithinSteps } from './schemas-at.ts';

const ISSUES_MAX = 20;
/** A server chose the schema: judging arguments by it takes a fraction of a second at most. */
const STEPS_MAX = 20_000;
/** Keywords with regular expressions. A server chose them, and a slow one would stop the pod. The server checks them itself. */
const PATTERNS = new Set(['pattern', 'patternProperties']);
/** Keywords whose values are maps of schemas. */
const MAPS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** Keywords whose values are data. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
const NOT_CHECKED = [
  { path: '', message: 'The schema of this tool cannot be checked; approve or deny the call.' },
];

/**
 * The faults of arguments by a tool's JSON Schema, without its regular expressions. Values at `masked` (JSON pointers) are
 * not looked at. A schema that cannot be read is itself a fault.
 */
export function faultsOfArguments(
  schema: Readonly<Record<string, unknown>>,
  given: Arguments,
  masked: readonly string[],
): Issue[] {
  const checker = checkerOf(schema);
  if (checker === undefined || !isWithinSteps(schema, given, STEPS_MAX)) return NOT_CHECKED;
  const result = checker.safeParse(given);
  if (result.success) return [];
  return openIssues(result.error.issues, masked)
    .slice(0, ISSUES_MAX)
    .map(({ path, message }) => ({ path: path.join('.'), message }));
}

/**
 * The issues that do not depend on masked values. An alternative whose only faults are at masked values may fit, and so may
 * one of several that fit as they are masked.
 */
function openIssues(
  issues: readonly z.core.$ZodIssue[],
  masked: readonly string[],
  at: readonly PropertyKey[] = [],
): readonly z.core.$ZodIssue[] {
  return issues.filter((issue) => {
    const path = [...at, ...issue.path];
    const pointer = pointerOf(path);
    if (masked.includes(pointer)) return false;
    if (issue.code !== 'invalid_union') return true;
    return issue.errors.length === 0
      ? !masked.some((one) => one.startsWith(`${pointer}/`))
      : issue.errors.every((alternative) => openIssues(alternative, masked, path).length > 0);
  });
}

/** True when arguments of this schema can be checked, so that they may be edited. */
export function isCheckable(schema: Readonly<Record<string, unknown>>): boolean {
  return checkerOf(schema) !== undefined && isWithinSteps(schema, {}, STEPS_MAX);
}

function checkerOf(schema: Readonly<Record<string, unknown>>): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(withoutPatterns(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

/** A schema without its regular expressions. In a map, `pattern` is the name of a parameter, and no keyword. */
function withoutPatterns(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withoutPatterns(each));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => isMap || !PATTERNS.has(name))
      .map(([name, value]) => [
        name,
        !isMap && DATA.has(name) ? value : withoutPatterns(value, !isMap && MAPS.has(name)),
      ]),
  );
}
