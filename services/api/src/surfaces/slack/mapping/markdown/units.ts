import type { RichTextBlockElement, RichTextList } from '@slack/types';
import { jsonLength, piecesOf } from '../text.ts';
import { rowsOf, type Span } from './spans.ts';

/** A part of a document that is never split: a line of a list, a piece of a paragraph, some lines of code, a rule. */
export interface Unit {
  /** Units with the same group become one element if they are in the same message. */
  readonly group: number;
  /** Identifies the document's block to which the unit belongs. */
  readonly block: number;
  /** Undefined for a rule. */
  readonly element: RichTextBlockElement | undefined;
  /** The length of the element's content, as JSON. */
  readonly json: number;
}

/** A list that is not finished, and the number of its next item, counted from 0. */
export interface OpenList {
  readonly style: RichTextList['style'];
  readonly indent: number;
  readonly group: number;
  next: number;
}

/** A list that begins with a number other than the first. Slack documents `offset`, but its types lack it. */
interface ListFrom extends RichTextList {
  readonly offset?: number;
}

/** The maximum length of a unit. Several units and the blocks around them fill a message. */
const UNIT_MAX = 2_800;
const INDENT_MAX = 8;

/** Collects the units of a document. Within a quote, elements other than paragraphs get a border instead. */
export function createUnits() {
  const units: Unit[] = [];
  let block = 0;
  let groups = 0;
  let length = 0;

  function put(group: number, element: RichTextBlockElement | undefined): void {
    const json = element === undefined ? 0 : JSON.stringify(element.elements).length;
    units.push({ group, block, element, json });
    length += json;
  }
  const newGroup = () => {
    groups += 1;
    return groups;
  };

  function paragraph(spans: readonly Span[], isQuoted: boolean): void {
    const group = newGroup();
    const type = isQuoted ? 'rich_text_quote' : 'rich_text_section';
    for (const elements of rowsOf(spans, UNIT_MAX)) put(group, { type, elements });
  }

  return {
    units,
    /** The total length of all units, as JSON. */
    length: () => length,
    newGroup,
    /** Separates what follows from the earlier units. */
    newBlock() {
      block += 1;
    },
    paragraph,
    rule: () => put(newGroup(), undefined),
    item(list: OpenList, spans: readonly Span[], isQuoted: boolean): void {
      const [line = [], ...rest] = rowsOf(
        spans.length === 0 ? [{ type: 'text', text: ' ' }] : spans,
        UNIT_MAX,
      );
      const { style, group, next, indent } = list;
      const element: ListFrom = {
        type: 'rich_text_list',
        style,
        elements: [{ type: 'rich_text_section', elements: line }],
        ...(indent > 0 && { indent: Math.min(indent, INDENT_MAX) }),
        ...(style === 'ordered' && next > 0 && { offset: next }),
        ...(isQuoted && { border: 1 }),
      };
      put(group, element);
      if (rest.length > 0) paragraph(rest.flat(), isQuoted);
    },
    code(text: string, isQuoted: boolean): void {
      const group = newGroup();
      if (text === '') return;
      for (const piece of piecesOf(text, UNIT_MAX, jsonLength))
        put(group, {
          type: 'rich_text_preformatted',
          elements: [{ type: 'text', text: piece }],
          ...(isQuoted && { border: 1 }),
        });
    },
  };
}
