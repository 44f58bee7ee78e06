import { createSseParser } from '@parley/core';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sized } from '../../harness/proof-size.ts';

type Event = readonly [event: string, data: string];

function read(pieces: readonly string[]): Event[] {
  const events: Event[] = [];
  const feed = createSseParser({ onEvent: ({ event, data }) => void events.push([event, data]) });
  for (const piece of pieces) feed(piece);
  return events;
}

/** The events according to another parser of the format. */
function readWithLibrary(text: string): Event[] {
  const events: Event[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => void events.push([event ?? 'message', data]) });
  parser.feed(text);
  return events;
}

describe('an event stream', () => {
  it.each<[string, string[], Event[]]>([
    [
      'names and data',
      ['event: a\ndata: 1\n\ndata: 2\n\n'],
      [
        ['a', '1'],
        ['message', '2'],
      ],
    ],
    ['data of many lines', ['data: 1\ndata:2\ndata\n\n'], [['message', '1\n2\n']]],
    ['comments, ids and retry times', [': hb\nretry: 5\nid: 7\ndata: x\n\n: hb\n\n'], [['message', 'x']]],
    ['a name without data', ['event: a\n\ndata: x\n\n'], [['message', 'x']]],
    ['values with colons', ['data: {"a":"b: c"}\n\n'], [['message', '{"a":"b: c"}']]],
    ['breaks of three kinds', ['data: 1\r\ndata: 2\rdata: 3\n\r\n'], [['message', '1\n2\n3']]],
    ['a break cut in two', ['data: 1\r', '\ndata: 2\r', '\n\r', '\n'], [['message', '1\n2']]],
    ['no end', ['data: 1\n'], []],
  ])('has %s', (_, pieces, events) => {
    expect(read(pieces)).toEqual(events);
  });

  it('is parsed in pieces of any size, with the same result as eventsource-parser', () => {
    const line = fc.oneof(
      fc.constantFrom(
        ...['', 'data: x', 'data:', 'data', 'data:  y', 'event: a', 'event:b', ': hb', 'id: 1', 'dat: z'],
      ),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    );
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
      .map((lines) => `${lines.flat().join('')}\n\n`);
    const cuts = fc.array(fc.nat(80), { maxLength: 6 });
    fc.assert(
      fc.property(stream, cuts, (text, places) => {
        const at = [
          0,
          ...places.map((place) => Math.min(place, text.length)).sort((a, b) => a - b),
          text.length,
        ];
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        expect(read(pieces)).toEqual(read([text]));
        expect(read([text])).toEqual(readWithLibrary(text));
      }),
      { numRuns: sized(1_000) },
    );
  });
});
