import { BLOCK_GAP, createPieces } from '../../turns/text.ts';
import type { OpenAiContent } from './format.ts';

/** The part that the current step adds to the single text of an OpenAI stream. */
interface OpenAiStep {
  begin(step: number): readonly OpenAiContent[];
  end(): readonly OpenAiContent[];
  text(block: string, text: string): readonly OpenAiContent[];
  finishBlock(block: string): readonly OpenAiContent[];
  envelope(json: string): readonly OpenAiContent[];
  /** Discards the step. Returns the envelope to send if the client has envelopes of the step. */
  restart(step: number): readonly { readonly type: 'step-restarted'; readonly step: number }[];
  /** True if the client has text of this step or a later one. */
  hasText(step: number): boolean;
}

type Piece =
  | { readonly type: 'text'; readonly block: string; text: string }
  | { readonly type: 'envelope'; readonly json: string };

/** Sends the pieces of a step as they come; if `buffered`, only after the step has ended. */
export function createOpenAiStep(buffered: boolean): OpenAiStep {
  const pieces = createPieces();
  let held: Piece[] = [];
  let current = 0;
  let lastBlock: string | undefined;
  let textStep = -1;
  let envelopeStep = -1;

  function contentsOf(piece: Piece): readonly OpenAiContent[] {
    if (piece.type === 'envelope') {
      envelopeStep = current;
      return [{ text: piece.json, isEnvelope: true }];
    }
    textStep = current;
    const gap = lastBlock === undefined || lastBlock === piece.block ? '' : BLOCK_GAP;
    lastBlock = piece.block;
    return withoutObjects(gap + piece.text).map((text) => ({ text, isEnvelope: false }));
  }

  function add(piece: Piece): readonly OpenAiContent[] {
    if (!buffered) return contentsOf(piece);
    const before = held.at(-1);
    if (piece.type === 'text' && before?.type === 'text' && before.block === piece.block) {
      before.text += piece.text;
    } else {
      held.push(piece);
    }
    return [];
  }

  function addText(block: string, text: string): readonly OpenAiContent[] {
    return text === '' ? [] : add({ type: 'text', block, text });
  }

  function end(): readonly OpenAiContent[] {
    const rests = pieces.finishAll().flatMap(([block, text]) => addText(block, text));
    const flushed = held.flatMap(contentsOf);
    held = [];
    return [...rests, ...flushed];
  }

  return {
    begin(step) {
      const rest = step === current ? [] : end();
      current = step;
      return rest;
    },
    end,
    text: (block, text) => addText(block, pieces.add(block, text)),
    finishBlock: (block) => addText(block, pieces.finish(block)),
    envelope: (json) => add({ type: 'envelope', json }),
    restart(step) {
      pieces.clear();
      held = [];
      const seen = envelopeStep >= step;
      envelopeStep = Math.min(envelopeStep, step - 1);
      return seen ? [{ type: 'step-restarted', step }] : [];
    },
    hasText: (step) => textStep >= step,
  };
}

/** Splits the text so that no piece is a JSON object: a delta that is one can then only be an envelope. */
function withoutObjects(text: string): readonly string[] {
  if (!text.trimStart().startsWith('{') || !text.trimEnd().endsWith('}')) return [text];
  // The first piece contains only the opening braces, so that neither piece begins and ends like an object.
  const second = text.search(/[^\s{]/);
  return [text.slice(0, second), text.slice(second)];
}
