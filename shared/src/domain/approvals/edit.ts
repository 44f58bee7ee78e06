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

/** The parts of a call that the person sees before editing it. */
type ShownCall = Pick<ApprovalDefinition, 'arguments' | 'masked' | 'inputSchema'>;

/**
 * The faults of edited arguments: masked values must stay in their places, the edit may not add a secret, and all other values
 * must fit the tool's schema.
 */
export function faultsOfEdit(
  { arguments: shown, masked, inputSchema = {} }: ShownCall,
  edited: Arguments,
): Issue[] {
  // This check comes first because a person may send arguments of any size.
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
  // An edit is stored and displayed unmasked, so it may not contain secrets. Pointers that the approval masks already are not
  // new.
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
 * Whether a masked value is still in the place where the person saw it. A list item is identified by its content, and a value
 * beside a label by that label, so that a secret cannot be moved to another place. `judged` caches the comparisons, because one
 * item or object may contain many masked values.
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
  // A value whose own name marks it as a secret needs no label.
  const isFree = !isLabelled(name) || namesSecret(name);
  return (isFree || once(shown, hasLabels)) && isKept(before, after, rest, judged);
}

function valueAt(root: unknown, names: readonly string[]): unknown {
  return names.reduce((at, name) => (isHolder(at) ? own(at, name) : undefined), root);
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
