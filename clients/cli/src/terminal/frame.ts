import { cut, painted, type Surface, symbol, wrapped } from './look.ts';

/** Where a prompt stands: open, perhaps with a fault of what was entered; entered; or left. */
export type PromptState =
  | { readonly status: 'open'; readonly fault?: string | undefined }
  | { readonly status: 'done' | 'left' };

interface FrameParts {
  readonly label: string;
  readonly description?: string | undefined;
  /** What the keys do; left out where there is no room. */
  readonly hints?: readonly string[] | undefined;
  /** The rows below the label, not more than `room` and none wider than `width`. */
  readonly body: (width: number, room: number) => readonly string[];
}

/** What is left for the body before there are hints and an empty row above. */
const BODY_ROWS = 5;
/** What stays free below; and the first row of the label, the first of the body, and the end. */
const FIXED_ROWS = 4;
/** The bar beside the rows with its blanks, and one column that stays free. */
const MARGIN = 4;
const FAULT_ROWS = 3;
const COLOURS = { open: 'cyan', done: 'green', left: 'red', wrong: 'yellow' } as const;

/** The width of what stands beside the bar. */
export function widthInside({ columns }: Surface): number {
  return Math.max(columns - MARGIN, 4);
}

/** The rows of a prompt. They fit on the screen, so that they can be drawn over. */
export function frameOf(surface: Surface, state: PromptState, parts: FrameParts): readonly string[] {
  const width = widthInside(surface);
  const isOpen = state.status === 'open';
  const fault = isOpen ? state.fault : undefined;
  const bar = painted(surface, isOpen ? 'cyan' : 'gray', symbol(surface, 'bar'));
  const beside = (row: string) => `${bar}  ${row}`.trimEnd();
  let room = surface.rows - FIXED_ROWS;
  /** As many of the rows as there is room for, and not more than `most`. */
  const take = (rows: readonly string[], most: number) => {
    const taken = shortened(rows, Math.max(Math.min(most, room), 0), width);
    room -= taken.length;
    return taken;
  };
  const takeWhole = (rows: readonly string[]) => (rows.length <= room - BODY_ROWS ? take(rows, room) : []);

  const text = [parts.label, parts.description?.replaceAll('\n', ' ')].filter(Boolean).join('  ');
  const [first = '', ...more] = wrapped(text, width);
  const faults = take(fault === undefined ? [] : wrapped(fault, width), FAULT_ROWS);
  const rest = take(more, Math.floor(surface.rows / 3));
  const above = takeWhole([bar]);
  const hints = takeWhole(isOpen && parts.hints !== undefined ? wrapped(parts.hints.join(' • '), width) : []);
  const mark = fault === undefined ? state.status : 'wrong';
  return [
    ...above,
    `${painted(surface, COLOURS[mark], symbol(surface, mark))}  ${first}`,
    ...rest.map(beside),
    ...faults.map((row) => beside(painted(surface, 'yellow', row))),
    ...parts.body(width, Math.max(room, 0) + 1).map(beside),
    ...hints.map((row) => beside(painted(surface, 'dim', row))),
    ...(isOpen ? [painted(surface, 'cyan', symbol(surface, 'end'))] : []),
  ];
}

function shortened(rows: readonly string[], most: number, width: number): readonly string[] {
  if (rows.length <= most || most === 0) return rows.slice(0, most);
  return [...rows.slice(0, most - 1), cut(`${rows[most - 1]} ${rows[most]}`, width)];
}
