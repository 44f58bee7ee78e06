import type { Status } from '@parley/core/domain/elicitations/status';
import { CELLS, type Column } from '../../test/harness/tables/elicitation-transitions.ts';

/** The commands by which a reader knows them; several columns of the table are one command. */
const LABELS: Readonly<Partial<Record<Column, string>>> = {
  accept: 'accept',
  complete: 'complete',
  decline: 'decline',
  cancel: 'cancel',
  expire: 'the deadline',
  withdraw: 'withdraw',
};

const ENDS = ['accepted', 'declined', 'cancelled', 'expired', 'withdrawn'] as const satisfies Status[];
const OPEN = new Set(['pending', 'opened', 'overdue', 'opened overdue']);
const ROW = 58;
const TOP = 24;
const MIDDLE = TOP + 2 * ROW + 18;

/** docs/images/states.svg: the life of a question, from the table that the tests hold the product to. Light and dark. */
export function stateDiagram(): string {
  const opening = commandsTo('opened').join(' or ');
  const ends = ENDS.map((status, at) => {
    const y = TOP + at * ROW + 18;
    const label = commandsTo(status).join(' or ');
    return [
      `<path class="line" d="M368 ${MIDDLE} L412 ${y} H566" marker-end="url(#tip)"/>`,
      `<text class="small" x="418" y="${y - 6}">${label}</text>`,
      box(572, y, status),
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 320" role="img" aria-labelledby="title">
<title id="title">A question is pending, may become opened, and ends in one of five ways.</title>
<style>
text { font: 15px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
.small { font-size: 13px; fill: #59636e; text-anchor: start; }
.box { fill: #f6f8fa; stroke: #59636e; }
.group { fill: none; stroke: #8b949e; stroke-dasharray: 5 4; }
.line { fill: none; stroke: #59636e; stroke-width: 1.5; }
.tip { fill: #59636e; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.small { fill: #9da7b3; }
.box { fill: #21262d; stroke: #9da7b3; }
.line { stroke: #9da7b3; }
.tip { fill: #9da7b3; }
}
</style>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 Z"/></marker>
<rect class="group" x="8" y="${MIDDLE - 62}" width="360" height="124" rx="10"/>
<text class="small" x="20" y="${MIDDLE - 42}">open</text>
${box(22, MIDDLE, 'pending')}
<path class="line" d="M142 ${MIDDLE} H228" marker-end="url(#tip)"/>
<text class="small" x="148" y="${MIDDLE - 8}">${opening}</text>
${box(234, MIDDLE, 'opened')}
<text class="small" x="20" y="${MIDDLE + 48}">opened: a page must finish it</text>
${ends.join('\n')}
</svg>
`;
}

function box(x: number, y: number, status: Status): string {
  return `<rect class="box" x="${x}" y="${y - 18}" width="120" height="36" rx="8"/><text x="${x + 60}" y="${y + 5}">${status}</text>`;
}

/** What moves an open question to this status. */
function commandsTo(status: Status): string[] {
  const labels = CELLS.flatMap(({ from, command, outcome }) =>
    OPEN.has(from) && typeof outcome === 'object' && 'moves' in outcome && outcome.moves === status
      ? (LABELS[command] ?? [])
      : [],
  );
  return [...new Set(labels)];
}
