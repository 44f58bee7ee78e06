import { type FeedPosition, formatFeedPosition, parseFeedPosition } from '@parley/core/domain/events';
import { jsonIn } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { RequestId } from '../json-rpc.ts';

/** The request to whose stream an event belongs. Any pod can continue the stream from this. */
export const StreamRequest = z.object({
  id: RequestId,
  /** When the request arrived, in ms since 1970 on the records' clock. */
  at: z.number(),
  progressToken: RequestId.optional(),
  /** For each open question that was asked again: how many answers had not fit by then, by the question's id. */
  again: z.record(z.string(), z.int()).optional(),
});
export type StreamRequest = z.infer<typeof StreamRequest>;

/** A reader's position in the stream of a request; without `after`, before its first event. */
export interface StreamPosition {
  readonly request: StreamRequest;
  readonly after?: FeedPosition;
}

const LENGTH_MAX = 8_192;
const START = 'start';

/** The id of an event. It contains the request's id, so it is unique in its session. */
export function formatPosition(request: StreamRequest, after?: FeedPosition): string {
  const place = after === undefined ? START : formatFeedPosition(after);
  return `${place}/${Buffer.from(JSON.stringify(request)).toString('base64url')}`;
}

/** Parses the id of an event; undefined for other text. */
export function parsePosition(text: string): StreamPosition | undefined {
  const [place = '', encoded = '', more] = text.slice(0, LENGTH_MAX).split('/');
  const after = parseFeedPosition(place);
  const request = StreamRequest.safeParse(jsonIn(Buffer.from(encoded, 'base64url').toString()));
  if (!request.success || more !== undefined || (after === undefined && place !== START)) return undefined;
  return { request: request.data, ...(after !== undefined && { after }) };
}
