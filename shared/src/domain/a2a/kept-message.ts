import { ACTIONS } from '@parley/core/domain/elicitations/status';
import { jsonIn } from '@parley/core/domain/parsed';
import { z } from 'zod';
import type { WireMessage, WirePart } from './wire.ts';

/** What a client's message has beside its parts, for the history of its task. */
export const KeptMessage = z.object({
  messageId: z.string(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  extensions: z.array(z.string()).optional(),
  referenceTaskIds: z.array(z.string()).optional(),
});
export type KeptMessage = z.infer<typeof KeptMessage>;

/** A piece of the text that a message became: its kind, and its length in UTF-16 code units. */
const Piece = z.object({ type: z.enum(['text', 'data']), length: z.int().nonnegative() });

/** The message that began a task. The turn has its text, so only how that was made of parts is kept beside it. */
export const FirstMessage = KeptMessage.extend({ pieces: z.array(Piece).optional() });
export type FirstMessage = z.infer<typeof FirstMessage>;

/** A part of a message that answered: a text beside its answers, or an answer without its content. */
const AnswerPart = z.union([
  z.object({ text: z.string() }),
  z.object({ elicitationId: z.string(), action: z.enum(ACTIONS) }),
]);

/** A message that answered. The rows of its questions have the content of its answers. */
export const AnswerMessage = KeptMessage.extend({
  /** The surface that the answers are recorded with. */
  surface: z.string(),
  /** Absent where its text is the answer. */
  parts: z.array(AnswerPart).optional(),
});
export type AnswerMessage = z.infer<typeof AnswerMessage>;

/** What stands between two pieces of a text. */
export const PIECE_GAP = '\n\n';

/** The pieces of a text; undefined where it is one part of text, as clients send it. */
export function piecesOf(
  parts: readonly { readonly type: 'text' | 'data'; readonly text: string }[],
): FirstMessage['pieces'] {
  if (parts.length === 1 && parts[0]?.type === 'text') return undefined;
  return parts.map(({ type, text }) => ({ type, length: text.length }));
}

/** The parts of the message that began a task, as they were sent. A text that does not fit its pieces is one part. */
export function partsOfFirst(text: string, { pieces = [] }: Pick<FirstMessage, 'pieces'>): WirePart[] {
  const parts: WirePart[] = [];
  let at = 0;
  for (const { type, length } of pieces) {
    const piece = text.slice(at, at + length);
    const part = type === 'text' ? { text: piece } : dataPart(piece);
    if (part === undefined) return [{ text }];
    parts.push(part);
    at += length + PIECE_GAP.length;
  }
  return at === text.length + PIECE_GAP.length ? parts : [{ text }];
}

/** What of a kept message stands in the history as it was sent. */
export function shownOfSent({
  messageId,
  metadata,
  extensions,
  referenceTaskIds,
}: KeptMessage): Pick<WireMessage, 'messageId' | 'metadata' | 'extensions' | 'referenceTaskIds'> {
  return {
    messageId,
    ...(metadata !== undefined && { metadata }),
    ...(extensions !== undefined && { extensions }),
    ...(referenceTaskIds !== undefined && { referenceTaskIds }),
  };
}

function dataPart(json: string): WirePart | undefined {
  const data = jsonIn(json);
  return data === undefined ? undefined : { data };
}
