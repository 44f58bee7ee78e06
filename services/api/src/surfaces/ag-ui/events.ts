/** Converts the events of a turn to AG-UI events and messages. When a run begins and ends is decided in `encoder.ts`. */

import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { shownNotice } from '../../turns/shown.ts';
import { createPieces } from '../../turns/text.ts';
import { type AgUiEvent, callIdIn, type SentMessage, toolCallOf, toolMessageOf } from './shapes.ts';

/** A turn as AG-UI events, and as the messages that a client derives from them. */
interface AgUiTurn {
  /** The AG-UI events for one event of the turn. Empty for the turn's end, which ends the run. */
  take(event: TurnEvent): readonly AgUiEvent[];
  /** Ends the open messages, before a run ends or earlier output is replaced. */
  close(): readonly AgUiEvent[];
  /** True if this step or a later one has produced output. */
  hasSaid(step: number): boolean;
  /** Takes back the output of this step and later ones. */
  takeBack(step: number): void;
  /** The output of the turn so far. */
  messages(): readonly SentMessage[];
}

interface Said {
  readonly step: number;
  message: SentMessage;
}

/**
 * `messageId` is the id of the turn's reply. It prefixes the ids of messages and calls, which are therefore unique in the
 * thread.
 */
export function createAgUiTurn(messageId: string): AgUiTurn {
  const pieces = createPieces();
  const open = new Set<string>();
  let said: Said[] = [];
  let step = 0;

  const textIdOf = (block: string) => `${messageId}.${block}`;

  function find(id: string): Said | undefined {
    return said.find(({ message }) => message.id === id);
  }

  function text(block: string, delta: string): AgUiEvent[] {
    if (delta === '') return [];
    const id = textIdOf(block);
    const begins = !open.has(id);
    open.add(id);
    const known = find(id);
    if (known?.message.role === 'assistant')
      known.message = { ...known.message, content: (known.message.content ?? '') + delta };
    else said.push({ step, message: { id, role: 'assistant', content: delta } });
    return [
      ...(begins ? [{ type: 'TEXT_MESSAGE_START' as const, messageId: id, role: 'assistant' as const }] : []),
      { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta },
    ];
  }

  function finish(block: string): AgUiEvent[] {
    const rest = text(block, pieces.finish(block));
    const id = textIdOf(block);
    return open.delete(id) ? [...rest, { type: 'TEXT_MESSAGE_END', messageId: id }] : rest;
  }

  function close(): AgUiEvent[] {
    const rests = pieces.finishAll().flatMap(([block, rest]) => text(block, rest));
    const ends = [...open].map((id) => ({ type: 'TEXT_MESSAGE_END' as const, messageId: id }));
    open.clear();
    return [...rests, ...ends];
  }

  /** A call belongs to the message of its step, which is the message of the step's text if there is one. */
  function call({ toolCallId, toolName, input }: Extract<TurnEvent, { type: 'tool-called' }>): AgUiEvent[] {
    const id = callIdIn(messageId, toolCallId);
    const made = toolCallOf(id, toolName, input);
    const owner = said.findLast((one) => one.step === step && one.message.role === 'assistant');
    const parentMessageId = owner?.message.id ?? `${messageId}.step-${step}`;
    if (owner?.message.role === 'assistant')
      owner.message = { ...owner.message, toolCalls: [...(owner.message.toolCalls ?? []), made] };
    else said.push({ step, message: { id: parentMessageId, role: 'assistant', toolCalls: [made] } });
    return [
      { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: toolName, parentMessageId },
      { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: made.function.arguments },
      { type: 'TOOL_CALL_END', toolCallId: id },
    ];
  }

  /** Returns nothing for a call that was taken back. */
  function result(toolCallId: string, output: unknown): AgUiEvent[] {
    const message = toolMessageOf(callIdIn(messageId, toolCallId), output);
    const owner = said.findIndex(
      (one) =>
        one.message.role === 'assistant' &&
        one.message.toolCalls?.some(({ id }) => id === message.toolCallId) === true,
    );
    if (owner < 0 || find(message.id) !== undefined) return [];
    let at = owner + 1;
    while (said[at]?.message.role === 'tool') at += 1;
    said.splice(at, 0, { step, message });
    const { id, ...rest } = message;
    return [{ type: 'TOOL_CALL_RESULT', messageId: id, ...rest }];
  }

  return {
    take(event) {
      switch (event.type) {
        case 'step-started': {
          const ends = close();
          step = event.step;
          return ends;
        }
        case 'step-finished':
          return close();
        case 'text-delta':
          return text(event.block, pieces.add(event.block, event.text));
        case 'text-finished':
          return finish(event.block);
        case 'tool-called':
          return call(event);
        case 'tool-returned':
          return result(event.toolCallId, event.output);
        case 'tool-failed':
          return result(event.toolCallId, event.message);
        case 'tool-auth-required':
          return [{ type: 'CUSTOM', name: 'parley:tool-auth-required', value: shownNotice(event) }];
        default:
          return [];
      }
    },
    close,
    hasSaid: (from) => said.some((one) => one.step >= from),
    takeBack(from) {
      pieces.clear();
      said = said.filter((one) => one.step < from);
      step = from;
    },
    messages: () => said.map(({ message }) => message),
  };
}
