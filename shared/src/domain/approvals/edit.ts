import type { Issue } from '../issue.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { own } from '../plain-record.ts';
import type { Arguments } from './approval.ts';
import { faultsOfArguments } from './check-arguments.ts';
import type { ApprovalDefinition } from './definition.ts';
import { namesIn } from './json-pointer.ts';
import { LABELS, MASK, maskArguments, VALUES } from './mask.ts';

const ISSUES_MAX = 20;

/** What the person sees of a call before they edit it. */
type ShownCall = Pick<ApprovalDefinition, 'arguments' | 'masked' | 'inputSchema'>;

/**
 * The faults of edited arguments: masked values must stay where the approval shows them, no secret is added, and the rest
 * must fit the tool's schema.
 */
export function faultsOfEdit(
  { arguments: shown, masked, inputSchema = {} }: ShownCall,
  edited: Arguments,
): Issue[] {
  if (!masked.every((pointer) => isKept(shown, edited, namesIn(pointer))))
    return [
      {
        path: 'arguments',
        message: 'must leave the masked values as they are, and whole the items of lists that hold one',
      },
    ];
  const { masked: secrets, isTooDeep } = maskArguments(edited, inputSchema);
  if (isTooDeep) return [{ path: 'arguments', message: 'are nested too deeply' }];
  // An edit is stored and shown as it is. What the approval shows already is not added.
  const added = secrets
    .filter((pointer) => !masked.includes(pointer))
    .map(namesIn)
    .filter((names) => valueAt(shown, names) !== valueAt(edited, names));
  if (added.length > 0)
    return added.slice(0, ISSUES_MAX).map((names) => ({
      path: ['arguments', ...names].join('.'),
      message: 'is secret by its name or schema, and an edit cannot add it',
    }));
  return faultsOfArguments(inputSchema, edited, masked).map(({ path, message }) => ({
    path: path === '' ? 'arguments' : `arguments.${path}`,
    message,
  }));
}

/**
 * Whether the masked value at a place is still what the person sees there. An item of a list is known by what it contains,
 * and a value beside its name by that name: a secret must not get into another one's place.
 */
function isKept(shown: unknown, edited: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return edited === MASK;
  if (Array.isArray(shown) !== Array.isArray(edited) || !isHolder(shown) || !isHolder(edited)) return false;
  const [before, after] = [own(shown, name), own(edited, name)];
  if (Array.isArray(shown)) return canonicalJson(before) === canonicalJson(after);
  const isLabelled = VALUES.has(name.toLowerCase());
  if (isLabelled && LABELS.some((label) => own(shown, label) !== own(edited, label))) return false;
  return isKept(before, after, rest);
}

function valueAt(root: unknown, names: readonly string[]): unknown {
  return names.reduce((at, name) => (isHolder(at) ? own(at, name) : undefined), root);
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
