import type { DividerBlock, RichTextBlock, RichTextBlockElement } from '@slack/types';
import { textOfSpans } from './spans.ts';
import type { Unit } from './units.ts';

/** The blocks of a message that show Markdown. */
export type MarkdownBlocks = (RichTextBlock | DividerBlock)[];

/** How much of a document a message holds. */
interface Room {
  readonly json: number;
  readonly blocks: number;
}

/** The longest JSON of an empty element in a block of its own. */
const AROUND_JSON = 140;

/**
 * Documents, one after another, as the blocks of as many messages as they need. Lists, quotes and code end with a message
 * and begin again in the next one.
 */
export function messagesOfUnits(documents: readonly (readonly Unit[])[], most: Room): MarkdownBlocks[] {
  const messages: MarkdownBlocks[] = [];
  let left = 0;
  for (const units of documents) {
    let last: Unit | undefined;
    for (const unit of units) {
      const isNewBlock = unit.block !== last?.block;
      const size = unit.json + (isNewBlock || unit.group !== last?.group ? AROUND_JSON : 0);
      if (size > left || (isNewBlock && (messages.at(-1)?.length ?? 0) >= most.blocks)) {
        messages.push([]);
        left = most.json;
        last = undefined;
      }
      left -= size;
      add(messages.at(-1) ?? [], unit, last);
      last = unit;
    }
  }
  return messages;
}

/** Adds a unit to the blocks of a message, and to the block and the element of the last one where it belongs to them. */
function add(blocks: MarkdownBlocks, { element, group, block }: Unit, last: Unit | undefined): void {
  if (element === undefined) {
    blocks.push({ type: 'divider' });
    return;
  }
  const open = blocks.at(-1);
  // Units stay as they are: they are put into messages again.
  const copy = { ...element, elements: [...element.elements] } as RichTextBlockElement;
  if (open?.type !== 'rich_text' || block !== last?.block) {
    blocks.push({ type: 'rich_text', elements: [copy] });
    return;
  }
  const elements: unknown[] | undefined = group === last.group ? open.elements.at(-1)?.elements : undefined;
  if (elements === undefined) open.elements.push(copy);
  else elements.push(...copy.elements);
}

/** The words in blocks, without any formatting. */
export function wordsOf(blocks: MarkdownBlocks): string {
  return blocks
    .flatMap((block) => (block.type === 'rich_text' ? block.elements : []))
    .flatMap((element) =>
      element.type === 'rich_text_list'
        ? element.elements.map(({ elements }) => textOfSpans(elements))
        : textOfSpans(element.elements),
    )
    .join('\n');
}
