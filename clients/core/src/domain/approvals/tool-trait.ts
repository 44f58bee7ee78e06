import type { ToolHints } from './approval.ts';

/** What the hints of a call say about its tool, as far as it matters to a person who decides. */
export type ToolTrait = 'reads' | 'changes' | 'keeps' | 'reaches' | 'unknown';

/**
 * The traits that the hints claim, most important first; never empty. For a tool that only reads, `destructive` has no meaning.
 * `unknown` stands for hints that say neither whether the tool is destructive nor that it reaches other services.
 */
export function traitsOf({ readOnly, destructive, openWorld }: ToolHints = {}): readonly ToolTrait[] {
  const reaches: readonly ToolTrait[] = openWorld === true ? ['reaches'] : [];
  if (readOnly === true) return ['reads', ...reaches];
  if (destructive === undefined) return reaches.length === 0 ? ['unknown'] : reaches;
  return [destructive ? 'changes' : 'keeps', ...reaches];
}
