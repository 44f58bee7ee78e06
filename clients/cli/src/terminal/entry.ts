import type { Key } from 'node:readline';
import { plainBreaks } from '@parley/core/domain/text';
import { breaksLine, charactersOf, edited, inserted, type TypedText, withoutLastBreak } from './editor.ts';
import { frameOf, type PromptState } from './frame.ts';
import { drawn, painted, type Row, rowsOf, type Surface, symbol, windowed } from './look.ts';
import { labelOf, type OpenPrompt, type TextPrompt } from './screen.ts';

interface EntryOptions {
  readonly isHidden: boolean;
  /** Whether the person has configured a text editor. */
  readonly hasEditor: boolean;
}

/** A prompt for a typed or pasted text. A hidden one shows nothing, not even its length. */
export function createEntry(prompt: TextPrompt, { isHidden, hasEditor }: EntryOptions): OpenPrompt<string> {
  const { takesLines = false, hasLines = false } = prompt;
  let draft: TypedText = { text: '', cursor: 0 };
  const set = (text: string) => {
    draft = inserted({ text: '', cursor: 0 }, text, takesLines);
  };
  const { initial = '' } = prompt;
  if (!isHidden) set(plainBreaks(initial));
  const untouched = draft.text;
  // An untouched preset is entered unchanged, even if it is not shown in full.
  const value = () => (draft.text === untouched ? initial : withoutLastBreak(draft.text));
  const canEdit = takesLines && hasEditor && !isHidden;
  const hints = ['Enter: confirm', 'Ctrl+J: new line', ...(canEdit ? ['Ctrl+G: editor'] : [])];
  return {
    takesLines,
    value,
    fault: () => prompt.validate(value()),
    isEntered: (key: Key) => key.name === 'return' && !breaksLine(key),
    press(typed, key) {
      draft = edited(draft, typed, key, takesLines);
    },
    paste(text) {
      draft = inserted(draft, text, takesLines);
    },
    ...(canEdit && { edit: { read: () => draft.text, write: set } }),
    frame: (state, surface) =>
      frameOf(surface, state, {
        label: labelOf(prompt),
        description: prompt.description,
        hints: hasLines && !isHidden ? hints : undefined,
        body: (width, room) =>
          isHidden ? hiddenBody(surface, state) : body(surface, state, draft, { width, room }),
      }),
  };
}

function hiddenBody(surface: Surface, { status }: PromptState): readonly string[] {
  return status === 'open' ? [symbol(surface, 'cursor')] : [];
}

function body(
  surface: Surface,
  { status }: PromptState,
  { text, cursor }: TypedText,
  { width, room }: { readonly width: number; readonly room: number },
): readonly string[] {
  const rows = rowsOf(text, width - 1);
  const isOpen = status === 'open';
  const focus = isOpen ? rows.findLastIndex(({ start }) => start <= cursor) : 0;
  if (!isOpen && text === '') return [];
  const style = status === 'left' ? 'strikethrough' : 'dim';
  // Rows that are further away cannot be on the screen, so they are not drawn.
  const first = Math.max(focus - room, 0);
  const at = focus - first;
  const drawnRows = rows
    .slice(first, focus + room + 1)
    .map((row, index) =>
      isOpen
        ? [drawnRow(surface, text, row, index === at ? cursor : undefined)]
        : [painted(surface, style, drawnRow(surface, text, row, undefined))],
    );
  return windowed(drawnRows, at, room, painted(surface, 'dim', '…'));
}

/** The cursor is drawn inverted even without colours, because it is no colour. */
const INVERSE = '\u001b[7m';
const UPRIGHT = '\u001b[27m';

/** A row of the text, with the cursor if it is in this row. */
function drawnRow(surface: Surface, text: string, { start, end }: Row, cursor: number | undefined): string {
  const shown = (part: string) => charactersOf(part).map(drawn).join('');
  if (cursor === undefined) return shown(text.slice(start, end));
  const [under, ...after] = charactersOf(text.slice(cursor, end));
  const before = shown(text.slice(start, cursor));
  if (under === undefined) return `${before}${symbol(surface, 'cursor')}`;
  const marked = `${INVERSE}${drawn(under)}${UPRIGHT}`;
  return `${before}${marked}${after.map(drawn).join('')}`;
}
