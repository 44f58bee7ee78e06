import { AsyncLocalStorage } from 'node:async_hooks';
import { LEFT_OUT, LEVELS_MAX, limitDepth } from '@parley/shared/domain/json/depth';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { modelToolName } from '../../../services/api/src/agents/mcp/calls/tool-name.ts';
import { ForeignOrigin } from '../../../services/api/src/agents/mcp/errors.ts';
import { createScrub } from '../../../services/api/src/agents/mcp/scrub.ts';
import { limitBytes } from '../../../services/api/src/agents/mcp/transports/byte-limit.ts';
import {
  createEventSplitter,
  dataOf,
  withData,
} from '../../../services/api/src/agents/mcp/transports/events.ts';
import type { Exchange } from '../../../services/api/src/agents/mcp/transports/exchange.ts';
import { createHttpFetch } from '../../../services/api/src/agents/mcp/transports/http-fetch.ts';
import { createLineReader } from '../../../services/api/src/agents/mcp/transports/lines.ts';
import { createNoteLimit } from '../../../services/api/src/agents/mcp/transports/note-limit.ts';
import { hasValidParamHeaders } from '../../../services/api/src/agents/mcp/transports/param-headers.ts';
import { bearer, httpConfig, stdioConfig } from '../../harness/mcp-servers/setup.ts';
import { sized } from '../../harness/proof-size.ts';

/** The bytes, cut at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
}

describe('the name of a tool for models', () => {
  const part = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', '.', 'é'), minLength: 1, maxLength: 6 }),
    fc.string({ minLength: 1, maxLength: 200 }),
  );

  it('is accepted by all providers', () => {
    fc.assert(
      fc.property(part, part, (server, tool) => {
        expect(modelToolName(server, tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
  });

  it('is never shared by two tools', () => {
    fc.assert(
      fc.property(part, part, part, part, (server, tool, otherServer, otherTool) => {
        fc.pre(server !== otherServer || tool !== otherTool);
        expect(modelToolName(server, tool)).not.toBe(modelToolName(otherServer, otherTool));
      }),
      { numRuns: sized(2_000, 200) },
    );
    const marked = modelToolName('s', 'a.b');
    expect(modelToolName('s', marked.slice('s__'.length))).not.toBe(marked);
  });

  it('is unchanged where that is possible', () => {
    expect(modelToolName('tracker', 'create_issue')).toBe('tracker__create_issue');
  });
});

describe('the lines of a child process', () => {
  it('are the same however the bytes are split', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ü', '漢', '🙂', ' '), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, places) => {
        const got: string[] = [];
        const read = createLineReader({
          bytesMax: 1_000,
          onLine: (one) => got.push(one),
          onTooLong: () => expect.unreachable(),
        });
        const bytes = Buffer.from(lines.map((one, i) => `${one}${i % 2 === 0 ? '\n' : '\r\n'}`).join(''));
        for (const chunk of cut(bytes, places)) read(chunk);
        expect(got).toEqual(lines);
      }),
    );
  });

  it('are skipped only when they are too long, with one report each', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), fc.array(fc.nat()), (lengths, places) => {
        const got: number[] = [];
        let tooLong = 0;
        const read = createLineReader({
          bytesMax: 10,
          onLine: (one) => got.push(one.length),
          onTooLong: () => {
            tooLong += 1;
          },
        });
        const bytes = Buffer.from(lengths.map((length) => `${'x'.repeat(length)}\n`).join(''));
        for (const chunk of cut(bytes, places)) read(chunk);
        expect(got).toEqual(lengths.filter((length) => length <= 10));
        expect(tooLong).toBe(lengths.length - got.length);
      }),
    );
  });
});

describe('the size limit of a message over HTTP', () => {
  async function passes(chunks: readonly Buffer[], areEvents: boolean, valuesMax?: number): Promise<boolean> {
    async function* body() {
      yield* chunks;
    }
    try {
      const bounds = { bytesMax: 50, valuesMax, areEvents, tooLarge: () => new Error('too much') };
      const got: Uint8Array[] = [];
      for await (const chunk of limitBytes(body(), bounds)) got.push(chunk);
      expect(Buffer.concat(got)).toEqual(Buffer.concat(chunks));
      return true;
    } catch (error) {
      expect(error).toEqual(new Error('too much'));
      return false;
    }
  }

  it('applies to each event of a stream, however the bytes are split', async () => {
    const event = fc.record({ length: fc.nat(60), end: fc.constantFrom('\n\n', '\r\n\r\n') });
    await fc.assert(
      fc.asyncProperty(fc.array(event), fc.array(fc.nat()), async (events, places) => {
        const texts = events.map(({ length, end }) => `data:${'x'.repeat(length)}${end}`);
        const chunks = cut(Buffer.from(texts.join('')), places);
        // The end of an event is not counted against it once it is there.
        const isFair = texts.every(
          (text) => text.trimEnd().length + (text.endsWith('\r\n\r\n') ? 3 : 1) <= 50,
        );
        expect(await passes(chunks, true)).toBe(isFair);
      }),
    );
  });

  it('applies to the whole body otherwise', async () => {
    expect(await passes([Buffer.from('\n\n'.repeat(25))], false)).toBe(true);
    expect(await passes([Buffer.from('\n\n'.repeat(25)), Buffer.from('x')], false)).toBe(false);
  });

  it.each([
    ['[{},{"a":1}]', 4],
    ['[1,[2,[3]]]', 5],
    [String.raw`{"a":"[{,\"[,\\","b":",,"}`, 2],
  ])(
    'applies to the values of the whole body, or of each event, without those of texts: %s',
    async (json, values) => {
      // A note may open a text, and end within an escape.
      const events = `data: ${json}\n\n: "\\\n: "\r\n\r\n: "\r\rdata: ${json}\n\n`;
      const bytes = Array.from(json, (character) => Buffer.from(character));
      for (const [valuesMax, isWithin] of [
        [values, true],
        [values - 1, false],
      ] as const) {
        expect(await passes(bytes, false, valuesMax)).toBe(isWithin);
        const whole = [Buffer.from(events)];
        expect(await passes(whole, true, valuesMax)).toBe(isWithin);
        expect(await passes([Buffer.from(events.slice(events.indexOf(':', 5)))], true, valuesMax)).toBe(
          isWithin,
        );
      }
    },
  );
});

describe('the depth limit of a message', () => {
  const nested = (levels: number, core: string) =>
    `${'{"a":['.repeat(levels / 2)}${core}${']}'.repeat(levels / 2)}`;
  const TEXT = '"{[\\"[\\\\"';
  const within = nested(LEVELS_MAX, TEXT);
  const cutAt = nested(LEVELS_MAX, JSON.stringify(LEFT_OUT));
  const open = `${'{"a":'.repeat(LEVELS_MAX)}"${LEFT_OUT}"`;

  it.each([
    [within, within],
    [nested(LEVELS_MAX + 2, TEXT), cutAt],
    [
      `[${nested(200_000, TEXT)},${TEXT},[1]]`,
      `[${nested(LEVELS_MAX - 2, `{"a":"${LEFT_OUT}"}`)},${TEXT},[1]]`,
    ],
    ['{"a":'.repeat(500), open],
    ['{"a', '{"a'],
    [']'.repeat(200), ']'.repeat(200)],
  ])('leaves out what is deeper, and nothing else: %#', (given, expected) => {
    expect(limitDepth(given)).toBe(expected);
  });

  it('keeps valid JSON valid', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(limitDepth(json)).toBe(json);
      }),
    );
  });
});

describe('the events of a stream', () => {
  it('are the same however the bytes are split and the lines end, and get other data where that is limited', () => {
    const event = fc.record({
      data: fc.constantFrom('{"ü":1}', '"', ''),
      newline: fc.constantFrom('\n', '\r\n', '\r'),
    });
    fc.assert(
      fc.property(fc.array(event), fc.array(fc.nat()), (events, places) => {
        const splitter = createEventSplitter();
        const bytes = Buffer.from(
          events.map(({ data, newline }) => ['id: "{', `data: ${data}`, '', ''].join(newline)).join(''),
        );
        const got = [...cut(bytes, places), Buffer.from('\n')].flatMap(splitter.take);
        expect(got.slice(0, events.length).map(dataOf)).toEqual(events.map(({ data }) => data));
        for (const one of got.slice(0, events.length)) expect(withData(one, 'x')).toBe('id: "{\ndata: x\n\n');
      }),
    );
  });
});

describe('the limit of notes', () => {
  const progress = (at: number, token = 'call') =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: token, at },
    });
  const reply = JSON.stringify({ id: 1, result: { method: 'notifications/progress' } });

  const about = (method: string, params: object) =>
    JSON.stringify({ method: `notifications/${method}`, params });
  const updated = (id: number) => about('resources/updated', { uri: `a:${id}` });

  function open() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const released: string[] = [];
    const limit = createNoteLimit({ perSecond: 3, release: (notes) => released.push(...notes) });
    return { released, limit, take: (...given: string[]) => given.flatMap((json) => limit.take(json)) };
  }

  it('passes so many a second, then the latest of each kind, and everything else at once and in order [T25-37]', () => {
    const { take } = open();
    expect(take(...[1, 2, 3, 4, 5].map((at) => progress(at)), progress(6, 'other'))).toEqual(
      [1, 2, 3].map((at) => progress(at)),
    );
    expect(take(updated(1))).toEqual([updated(1)]);
    vi.advanceTimersByTime(999);
    expect(take(progress(7), reply, reply)).toEqual([progress(6, 'other'), progress(7), reply, reply]);
    vi.advanceTimersByTime(1);
    expect(take(progress(8), 'no JSON')).toEqual([progress(8), 'no JSON']);
  });

  it.each([
    ['pages that are done', (id: number) => about('elicitation/complete', { elicitationId: `e${id}` })],
    ['requests that are cancelled', (id: number) => about('cancelled', { requestId: id })],
    ['resources', updated],
    ['calls', (id: number) => about('progress', { progressToken: id })],
  ])('loses no note about another thing, and keeps none for longer than the second: %s', (_what, note) => {
    const { take, released, limit } = open();
    const others = about('roots/updated', {});
    take(others, others, others);
    const all = [1, 2, 3, 4, 5, 6].map(note);
    const passed = take(...all, ...all.slice(3));
    vi.advanceTimersByTime(1_000);
    expect([...passed, ...released]).toEqual(all);
    take(...all.slice(0, 4));
    expect(limit.end()).toEqual(all.slice(3, 4));
    vi.advanceTimersByTime(1_000);
    expect([...passed, ...released]).toEqual(all);
  });

  it('has a pace of its own for what ends a question', () => {
    const { take } = open();
    take(...[1, 2, 3, 4].map(updated));
    const ends = [
      about('elicitation/complete', { elicitationId: 'e' }),
      about('cancelled', { requestId: 1 }),
    ];
    expect(take(...ends)).toEqual(ends);
  });
});

describe('what is removed from replies', () => {
  it('is every secret that was sent, at any place', () => {
    const scrub = createScrub(httpConfig('http://localhost', { 'x-key': 'project-key' }), bearer('ada'));
    const text = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(
        fc.jsonValue(),
        text,
        text,
        fc.constantFrom('token-of-ada', 'project-key'),
        (json, a, b, secret) => {
          const value = { deep: [json, { [a + secret]: `${a}${secret}${b}` }] };
          const got = JSON.stringify(scrub.value(value));
          expect(got).not.toContain(secret);
          expect(got).toContain('[redacted]');
        },
      ),
    );
  });

  it('is nothing else: values without a secret and ordinary variables are unchanged', async () => {
    const scrub = createScrub(await stdioConfig([], { LOG_LEVEL: 'information', API_TOKEN: 'abc"def\\ghi' }));
    const value = { a: ['information', { b: 1 }] };
    expect(scrub.value(value)).toBe(value);
    expect(scrub.value({ a: 'x abc"def\\ghi y' })).toEqual({ a: 'x [redacted] y' });
  });
});

describe('the fetch of a connection', () => {
  it('calls no other origin', async () => {
    const options = {
      origin: 'http://127.0.0.1:1',
      bounds: { bytesMax: 1 },
      exchanges: new AsyncLocalStorage<Exchange>(),
    };
    const { fetch, close } = createHttpFetch(options);
    for (const url of ['http://127.0.0.1:2/', 'https://127.0.0.1:1/', 'http://localhost:1/'])
      await expect(fetch(url)).rejects.toBeInstanceOf(ForeignOrigin);
    close();
  });
});

describe('arguments in headers [T26-23]', () => {
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  it.each([
    ['nothing to mirror', {}, true],
    ['a plain value', { properties: { region } }, true],
    ['one within another', { properties: { place: { type: 'object', properties: { region } } } }, true],
    [
      'one name twice',
      { properties: { region, other: { type: 'string', 'x-mcp-header': 'REGION' } } },
      false,
    ],
    ['a number', { properties: { n: { type: 'number', 'x-mcp-header': 'N' } } }, false],
    ['no token', { properties: { n: { type: 'string', 'x-mcp-header': 'N: x\r\nEvil' } } }, false],
    ['one in a list', { properties: { all: { type: 'array', items: region } } }, false],
    ['one of several forms', { oneOf: [{ properties: { region } }] }, false],
    ['the whole', { ...region }, false],
  ])('%s', (_, schema, isFair) => {
    expect(hasValidParamHeaders(schema)).toBe(isFair);
  });
});
