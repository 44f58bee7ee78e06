import type { Arguments } from '@parley/core/domain/approvals/approval';
import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import type { Issue } from '@parley/core/domain/issue';
import { isRecord } from '@parley/core/domain/plain-record';
import { z } from 'zod';
import { isWithinSteps } from './schemas-at.ts';

const ISSUES_MAX = 20;
/** A server chose the schema, so the work of one check is limited to a fraction of a second. */
const STEPS_MAX = 20_000;
/**
 * Keywords with regular expressions. A server chose them, and a slow one would block the pod, so only the server itself checks
 * them.
 */
const PATTERNS = new Set(['pattern', 'patternProperties']);
/** Keywords whose values are maps of schemas. */
const MAPS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** Keywords whose values are data, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
const NOT_CHECKED = [
  { path: '', message: 'The schema of this tool cannot be checked; approve or deny the call.' },
];

/**
 * The faults of arguments by a tool's JSON Schema, apart from regular expressions. Values at the JSON pointers in `masked` are
 * not checked. A schema that cannot be read is itself a fault.
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
 * Drops the issues that may be caused by masked values. In a union, an alternative may fit if all its issues are at masked
 * values; then the union is no issue.
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

/** True when arguments can be checked against this schema; only then may a person edit them. */
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

/** A copy of a schema without its regular expressions. In a map of schemas, `pattern` is a parameter's name and no keyword. */
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
