import type { Arguments } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { namesIn } from '@parley/core/domain/approvals/json-pointer';
import type { Issue } from '@parley/core/domain/issue';
import { canonicalJson } from '@parley/core/domain/json/canonical-json';
import { own } from '@parley/core/domain/plain-record';
import { namesSecret } from '../secret-words.ts';
import { faultsOfArguments } from './check-arguments.ts';
import { isLabelled, labelsOf } from './labels.ts';
import { MASK, maskArguments } from './mask.ts';

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
  // Before anything else follows them: a person may send arguments of any extent.
  const { masked: secrets, fault } = maskArguments(edited, inputSchema);
  if (fault !== undefined) return [{ path: 'arguments', message: fault }];
  const judged = new Map<unknown, boolean>();
  if (!masked.every((pointer) => isKept(shown, edited, namesIn(pointer), judged)))
    return [
      {
        path: 'arguments',
        message: 'must leave the masked values as they are, and whole the items of lists that hold one',
      },
    ];
  // An edit is stored and shown as it is. What the approval shows already is not added.
  const known = new Set(masked);
  const added = secrets
    .filter((pointer) => !known.has(pointer))
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
 * and a value beside its name by that name: a secret must not get into another one's place. `judged` has what is shown of
 * those: it is compared once, however many masked values are in it.
 */
function isKept(
  shown: unknown,
  edited: unknown,
  [name, ...rest]: readonly string[],
  judged: Map<unknown, boolean>,
): boolean {
  if (name === undefined) return edited === MASK;
  if (Array.isArray(shown) !== Array.isArray(edited) || !isHolder(shown) || !isHolder(edited)) return false;
  const [before, after] = [own(shown, name), own(edited, name)];
  const once = (key: unknown, isSame: () => boolean) => {
    const is = judged.get(key) ?? isSame();
    if (isHolder(key)) judged.set(key, is);
    return is;
  };
  if (Array.isArray(shown)) return once(before, () => canonicalJson(before) === canonicalJson(after));
  const hasLabels = () => canonicalJson(labelsOf(shown)) === canonicalJson(labelsOf(edited));
  // A value with a secret's own name needs no other one.
  const isFree = !isLabelled(name) || namesSecret(name);
  return (isFree || once(shown, hasLabels)) && isKept(before, after, rest, judged);
}

function valueAt(root: unknown, names: readonly string[]): unknown {
  return names.reduce((at, name) => (isHolder(at) ? own(at, name) : undefined), root);
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
