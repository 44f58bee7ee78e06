import { cut, painted, type Surface, symbol, wrapped } from './look.ts';

/** The state of a prompt: open, perhaps with a fault of the input; done; or left. */
export type PromptState =
  | { readonly status: 'open'; readonly fault?: string | undefined }
  | { readonly status: 'done' | 'left' };

interface FrameParts {
  readonly label: string;
  readonly description?: string | undefined;
  /** What the keys do. Omitted if there is no room. */
  readonly hints?: readonly string[] | undefined;
  /** The rows below the label: at most `room`, and none wider than `width`. */
  readonly body: (width: number, room: number) => readonly string[];
}

/** The body gets at least this many rows before hints and an empty row above are added. */
const BODY_ROWS = 5;
/** The free row at the bottom, the first row of the label, the first row of the body, and the last row of the frame. */
const FIXED_ROWS = 4;
/** The columns of the bar with its blanks, and one free column. */
const MARGIN = 4;
const FAULT_ROWS = 3;
const COLOURS = { open: 'cyan', done: 'green', left: 'red', wrong: 'yellow' } as const;

/** The columns to the right of the bar. */
export function widthInside({ columns }: Surface): number {
  return Math.max(columns - MARGIN, 4);
}

/** The rows of a prompt. They always fit on the screen, so that they can be redrawn. */
export function frameOf(surface: Surface, state: PromptState, parts: FrameParts): readonly string[] {
  const width = widthInside(surface);
  const isOpen = state.status === 'open';
  const fault = isOpen ? state.fault : undefined;
  const bar = painted(surface, isOpen ? 'cyan' : 'gray', symbol(surface, 'bar'));
  const beside = (row: string) => `${bar}  ${row}`.trimEnd();
  let room = surface.rows - FIXED_ROWS;
  /** Takes as many of the rows as there is room for, but at most `most`. */
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
