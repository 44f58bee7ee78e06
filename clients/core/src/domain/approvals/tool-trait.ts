import type { ToolHints } from './approval.ts';

/** What a tool says about itself, as far as it matters to a person who decides. */
export type ToolTrait = 'reads' | 'changes' | 'keeps' | 'reaches' | 'unknown';

/**
 * The traits that a tool claims, most important first; never empty. A tool that only reads is not asked what it changes, and
 * `unknown` stands for one that says neither what it changes nor that it reaches other services.
 */
export function traitsOf({ readOnly, destructive, openWorld }: ToolHints = {}): readonly ToolTrait[] {
  const reaches: readonly ToolTrait[] = openWorld === true ? ['reaches'] : [];
  if (readOnly === true) return ['reads', ...reaches];
  if (destructive === undefined) return reaches.length === 0 ? ['unknown'] : reaches;
  return [destructive ? 'changes' : 'keeps', ...reaches];
}
