import type { ToolHints } from '@parley/core/domain/approvals/approval';
import { traitsOf } from '@parley/core/domain/approvals/tool-trait';
import type { Html } from '../../kit/html.ts';
import { paragraph } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';

/** What the tool can do. It is a warning unless the tool declares itself harmless. */
export function traitsBox(hints: ToolHints | undefined, { approval }: PageStrings): Html {
  const traits = traitsOf(hints);
  const isCalm = traits.every((trait) => trait === 'reads' || trait === 'keeps');
  return paragraph(traits.map((trait) => approval.traits[trait]).join(' · '), isCalm ? 'quiet' : 'box warn');
}
