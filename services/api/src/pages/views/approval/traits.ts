import type { ToolHints } from '@parley/core/domain/approvals/approval';
import type { Html } from '../../kit/html.ts';
import { paragraph } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { ToolTrait } from './strings.ts';

/** What the tool can do. It is a warning unless the tool declares itself harmless. */
export function traitsBox(hints: ToolHints | undefined, { approval }: PageStrings): Html {
  const traits = traitsOf(hints);
  const isCalm = traits.every((trait) => trait === 'reads' || trait === 'keeps');
  return paragraph(traits.map((trait) => approval.traits[trait]).join(' · '), isCalm ? 'quiet' : 'box warn');
}

function traitsOf({ readOnly, destructive, openWorld }: ToolHints = {}): readonly ToolTrait[] {
  const reaches: readonly ToolTrait[] = openWorld === true ? ['reaches'] : [];
  if (readOnly === true) return ['reads', ...reaches];
  if (destructive === undefined) return reaches.length === 0 ? ['unknown'] : reaches;
  return [destructive ? 'changes' : 'keeps', ...reaches];
}
