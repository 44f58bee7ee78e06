/**
 * Derives the rows and bars of the timeline from the data of a turn, in pure functions. Positions and drawing are in `scale.ts`
 * and `picture.ts`.
 */

import type { AdminReplies } from '../api/replies.ts';

export type TurnTimeline = AdminReplies['GET /v1/admin/turns/:streamRequestId/timeline'];
export type TimelineRun = TurnTimeline['runs'][number];

/** What a bar of the picture represents. */
export type SpanKind = 'run' | 'owned' | 'queued' | 'detached' | 'step' | 'call' | 'failed' | 'wait';

/** One bar: its start and end in ms since 1970, and its label. */
export interface TimelineSpan {
  readonly kind: SpanKind;
  readonly start: number;
  readonly end: number;
  /** True if what the bar represents has not ended. */
  readonly lasts: boolean;
  /** Plain text from the server. */
  readonly label: string;
  /** True if another pod took over the run at the start of the bar. */
  readonly isTakeOver?: boolean;
}

/** A line of the picture, with bars that do not overlap. */
export interface TimelineRow {
  readonly type: 'run' | 'pods' | 'steps' | 'calls' | 'waits';
  /** The stream request of the run to which the row belongs. */
  readonly run: string;
  readonly depth: number;
  readonly agent: string;
  readonly spans: readonly TimelineSpan[];
}

interface Lasting {
  readonly startedAt: string;
  readonly endedAt?: string;
}

/** The rows of a turn: its own run with its pods, steps, calls and waits, followed by those of its delegates. */
export function rowsOf({ runs }: TurnTimeline, now: number): TimelineRow[] {
  return ordered(runs).flatMap(({ run, depth }) => rowsOfRun(run, depth, now));
}

/** The runs in the order of delegation, with their depths. Each follows the run for which it works. */
export function ordered(
  runs: readonly TimelineRun[],
): { readonly run: TimelineRun; readonly depth: number }[] {
  const known = new Set(runs.map(({ streamRequestId }) => streamRequestId));
  const found: { readonly run: TimelineRun; readonly depth: number }[] = [];
  const visit = (run: TimelineRun, depth: number) => {
    if (found.some((one) => one.run === run)) return;
    found.push({ run, depth });
    for (const child of runs)
      if (child.parent?.streamRequestId === run.streamRequestId) visit(child, depth + 1);
  };
  for (const run of runs) if (!known.has(run.parent?.streamRequestId ?? '')) visit(run, 0);
  // Runs whose parents form a circle are not reached from the root, and come last.
  for (const run of runs) visit(run, 0);
  return found;
}

function rowsOfRun(run: TimelineRun, depth: number, now: number): TimelineRow[] {
  const of = { run: run.streamRequestId, depth, agent: run.agent };
  const span = (kind: SpanKind, label: string, of: Lasting): TimelineSpan => ({
    kind,
    label,
    start: Date.parse(of.startedAt),
    end: of.endedAt === undefined ? Math.max(now, Date.parse(of.startedAt)) : Date.parse(of.endedAt),
    lasts: of.endedAt === undefined,
  });
  const pods = run.owners.map((owner, at) => ({
    ...span(owner.state, owner.pod ?? '', owner),
    isTakeOver: isTakeOver(run.owners, at),
  }));
  const steps = run.steps.map((step) => span('step', `${step.index + 1}`, step));
  const calls = run.calls.map((call) =>
    span(call.state === 'failed' ? 'failed' : 'call', call.toolName, call),
  );
  const waits = run.waits.map((wait) => span('wait', wait.trigger, wait));
  return [
    { ...of, type: 'run', spans: [span('run', run.agent, run)] },
    { ...of, type: 'pods', spans: pods },
    ...withoutOverlaps(steps).map((spans) => ({ ...of, type: 'steps' as const, spans })),
    ...withoutOverlaps(calls).map((spans) => ({ ...of, type: 'calls' as const, spans })),
    ...withoutOverlaps(waits).map((spans) => ({ ...of, type: 'waits' as const, spans })),
  ];
}

/**
 * Whether this owner took over the run of a dead pod. A pod that drains releases its run, which is then queued before its next
 * owner.
 */
export function isTakeOver(owners: TimelineRun['owners'], at: number): boolean {
  const [before, owner] = [owners[at - 1], owners[at]];
  return before?.state === 'owned' && owner?.state === 'owned' && before.term !== owner.term;
}

/** Distributes bars, in the order of their starts, over as few lines as possible without overlaps. */
export function withoutOverlaps(spans: readonly TimelineSpan[]): TimelineSpan[][] {
  const found: TimelineSpan[][] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const free = found.find((line) => (line.at(-1)?.end ?? 0) <= span.start);
    if (free === undefined) found.push([span]);
    else free.push(span);
  }
  return found;
}
