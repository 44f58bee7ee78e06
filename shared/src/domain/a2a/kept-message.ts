import { ACTIONS } from '@parley/core/domain/elicitations/status';
import { jsonIn } from '@parley/core/domain/parsed';
import { z } from 'zod';
import type { WireMessage, WirePart } from './wire.ts';

/** The fields of a client's message apart from its parts, kept for the history of its task. */
export const KeptMessage = z.object({
  messageId: z.string(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  extensions: z.array(z.string()).optional(),
  referenceTaskIds: z.array(z.string()).optional(),
});
export type KeptMessage = z.infer<typeof KeptMessage>;

/** One piece of the text that a message was converted to: its kind, and its length in UTF-16 code units. */
const Piece = z.object({ type: z.enum(['text', 'data']), length: z.int().nonnegative() });

/** The message that began a task. The turn stores its text, so only the division into parts is kept here. */
export const FirstMessage = KeptMessage.extend({ pieces: z.array(Piece).optional() });
export type FirstMessage = z.infer<typeof FirstMessage>;

/** A part of an answering message: a text beside the answers, or an answer without its content. */
const AnswerPart = z.union([
  z.object({ text: z.string() }),
  z.object({ elicitationId: z.string(), action: z.enum(ACTIONS) }),
]);

/** A message with answers. The content of the answers is stored in the rows of their questions. */
export const AnswerMessage = KeptMessage.extend({
  /** The surface with which the answers are recorded. */
  surface: z.string(),
  /** Absent when the text of the message is itself the answer. */
  parts: z.array(AnswerPart).optional(),
});
export type AnswerMessage = z.infer<typeof AnswerMessage>;

/** The separator between two pieces of a text. */
export const PIECE_GAP = '\n\n';

/** The pieces of a text; undefined when it is a single text part, as most clients send it. */
export function piecesOf(
  parts: readonly { readonly type: 'text' | 'data'; readonly text: string }[],
): FirstMessage['pieces'] {
  if (parts.length === 1 && parts[0]?.type === 'text') return undefined;
  return parts.map(({ type, text }) => ({ type, length: text.length }));
}

/** Restores the parts of the message that began a task. A text that does not match its pieces becomes one part. */
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

/** The fields of a kept message that the history shows unchanged. */
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
