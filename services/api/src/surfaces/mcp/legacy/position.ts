import { type FeedPosition, formatFeedPosition, parseFeedPosition } from '@parley/core/domain/events';
import { jsonIn } from '@parley/core/domain/parsed';
import { z } from 'zod';
import { RequestId } from '../json-rpc.ts';

/** The request whose stream an event belongs to: enough to continue the stream on any pod. */
export const StreamRequest = z.object({
  id: RequestId,
  /** When the request came, in ms since 1970 on the clock of the records. */
  at: z.number(),
  progressToken: RequestId.optional(),
  /** After how many answers that did not fit its open questions were asked again last, by their ids. */
  again: z.record(z.string(), z.int()).optional(),
});
export type StreamRequest = z.infer<typeof StreamRequest>;

/** Where a reader is in the stream of a request; without `after`, before its first event. */
export interface StreamPosition {
  readonly request: StreamRequest;
  readonly after?: FeedPosition;
}

const LENGTH_MAX = 8_192;
const START = 'start';

/** The id of an event, unique within its session: the request's own id is in it. */
export function formatPosition(request: StreamRequest, after?: FeedPosition): string {
  const place = after === undefined ? START : formatFeedPosition(after);
  return `${place}/${Buffer.from(JSON.stringify(request)).toString('base64url')}`;
}

/** Parses the id of an event; undefined for any other text. */
export function parsePosition(text: string): StreamPosition | undefined {
  const [place = '', encoded = '', more] = text.slice(0, LENGTH_MAX).split('/');
  const after = parseFeedPosition(place);
  const request = StreamRequest.safeParse(jsonIn(Buffer.from(encoded, 'base64url').toString()));
  if (!request.success || more !== undefined || (after === undefined && place !== START)) return undefined;
  return { request: request.data, ...(after !== undefined && { after }) };
}
