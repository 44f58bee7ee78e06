/** Runs items through an encoder, and finds in its bytes what a plain reader of server-sent events would. */

import { parseFeedPosition } from '@parley/core/domain/events';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import { type Frame, frameText } from '../../../services/api/src/http/sse.ts';
import {
  type CompletionOptions,
  createCompletionFormat,
} from '../../../services/api/src/surfaces/openai/completion-format.ts';
import {
  createOpenAiEncoder,
  type OpenAiOptions,
} from '../../../services/api/src/surfaces/openai/encoder.ts';
import { type BufferedTurn, createBufferedTurn } from '../../../services/api/src/turns/buffered.ts';
import type { Encoder } from '../../../services/api/src/turns/encoder.ts';
import { createTurnReader, type FollowTurnOptions } from '../../../services/api/src/turns/follow.ts';
import type { ReplayFacts } from '../../../services/api/src/turns/replay.ts';
import { createSupersededScan, type SupersededScan } from '../../../services/api/src/turns/superseded.ts';

export interface Sent {
  readonly frames: readonly Frame[];
  readonly bytes: string;
  readonly next: 'more' | 'end' | 'cut';
}

/** What a reader knows of a turn before it follows it. */
export type Reader = Omit<FollowTurnOptions, 'signal'>;

/** Encodes what one reader follows, until the encoder ends its stream. */
export function encodeAll(encoder: Encoder<Frame>, items: readonly WatchItem[], reader: Reader = {}): Sent {
  const frames: Frame[] = [];
  let next: Sent['next'] = 'more';
  const read = createTurnReader(reader);
  for (const event of items.flatMap((item) => read(item))) {
    const encoded = encoder.encode(event);
    frames.push(...encoded.frames);
    next = encoded.next;
    if (next !== 'more') break;
  }
  return { frames, bytes: frames.map(frameText).join(''), next };
}

/** What the encoder of chat completions can be given. */
export type ChunkOptions = OpenAiOptions & CompletionOptions;

/** The encoder of chat completions. */
export function completionEncoder(options: ChunkOptions): Encoder<Frame> {
  return createOpenAiEncoder(options, createCompletionFormat(options));
}

/** The message that a buffered caller gets. */
export function collected(items: readonly WatchItem[]): BufferedTurn {
  const turn = createBufferedTurn();
  const read = createTurnReader();
  for (const item of items) if (read(item).some((event) => turn.take(event))) break;
  return turn;
}

/** What a reader of a replay of these items knows. */
export function replaying(items: readonly WatchItem[]): { readonly facts: ReplayFacts } {
  return { facts: { superseded: scanned(items) } };
}

function scanned(items: readonly WatchItem[]): SupersededScan {
  const scan = createSupersededScan();
  for (const item of items) {
    if (item.type !== 'other') continue;
    const position = parseFeedPosition(item.id);
    if (position !== undefined) scan.see({ position, event: item.event });
  }
  return scan;
}

/** The chunks of frames that are JSON. */
export function chunksOf(sent: { readonly frames: readonly Frame[] }): Record<string, unknown>[] {
  return sent.frames.filter(({ text }) => text !== '[DONE]').map(({ text }) => JSON.parse(text));
}

/** Reads an event stream as the WHATWG parser does, but splits lines where the pickiest readers do. */
export function eventsOf(bytes: string): { readonly id?: string; readonly data: string }[] {
  const blocks = bytes.split('\n\n');
  if (blocks.pop() !== '') throw new Error('the stream ends within an event');
  return blocks.map((block) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what Python's str.splitlines takes for a line break
    const lines = block.split(/\r\n|[\n\r\u000b\u000c\u001c-\u001e\u0085\u2028\u2029]/);
    const fields = lines.map((line) => /^(id|data): (.*)$/s.exec(line)?.slice(1));
    const names = fields.map((field) => field?.[0]).join(' ');
    if (names !== 'id data' && names !== 'data') throw new Error(`not a frame: ${block}`);
    const data = fields.at(-1)?.[1] ?? '';
    return names === 'data' ? { data } : { id: fields[0]?.[1] ?? '', data };
  });
}
