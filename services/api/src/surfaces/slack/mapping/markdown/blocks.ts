import type { DividerBlock, RichTextBlock, RichTextBlockElement } from '@slack/types';
import { textOfSpans } from './spans.ts';
import type { Unit } from './units.ts';

/** The blocks of a message that display Markdown. */
export type MarkdownBlocks = (RichTextBlock | DividerBlock)[];

/** How much of a document fits into a message. */
interface Room {
  readonly json: number;
  readonly blocks: number;
}

/** The maximum length, as JSON, of an empty element in its own block. */
const AROUND_JSON = 140;

/**
 * Documents, one after another, as the blocks of as many messages as they need. Lists, quotes and code end with a message and
 * begin again in the next one.
 */
export function messagesOfUnits(documents: readonly (readonly Unit[])[], most: Room): MarkdownBlocks[] {
  const messages: MarkdownBlocks[] = [];
  let left = 0;
  for (const units of documents) {
    let last: Unit | undefined;
    for (const unit of units) {
      const size = unit.json + (unit.group === last?.group ? 0 : AROUND_JSON);
      const isFull = opensBlock(unit, last) && (messages.at(-1)?.length ?? 0) >= most.blocks;
      if (size > left || isFull) {
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

/** True for a unit that begins a new block in a message. A rule is always its own block, even within a quote or an item. */
function opensBlock({ element, block }: Unit, last: Unit | undefined): boolean {
  return element === undefined || last?.element === undefined || block !== last.block;
}

/** Adds a unit to a message: to the last block and element if it belongs to them, otherwise in a new one. */
function add(blocks: MarkdownBlocks, unit: Unit, last: Unit | undefined): void {
  const { element, group } = unit;
  if (element === undefined) {
    blocks.push({ type: 'divider' });
    return;
  }
  const open = blocks.at(-1);
  // Units must not be changed, because they are put into messages again.
  const copy = { ...element, elements: [...element.elements] } as RichTextBlockElement;
  if (open?.type !== 'rich_text' || opensBlock(unit, last)) {
    blocks.push({ type: 'rich_text', elements: [copy] });
    return;
  }
  const elements: unknown[] | undefined = group === last?.group ? open.elements.at(-1)?.elements : undefined;
  if (elements === undefined) open.elements.push(copy);
  else elements.push(...copy.elements);
}

/** The text in blocks, without formatting. */
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
