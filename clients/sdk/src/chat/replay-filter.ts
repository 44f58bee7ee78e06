import type { UIMessageChunk } from 'ai';

/** Makes one sequence of chunks from a turn that is read several times from its start. */
interface ReplayFilter {
  /** The new part of the next chunk. A data part is always new, because it replaces the one with its id. */
  take(chunk: UIMessageChunk): readonly UIMessageChunk[];
  /** Call when the next chunk is the first one of the turn again. */
  restart(): void;
}

interface TextBlock {
  /** The id under which the block continues. */
  id: string;
  sent: string;
  /** The text that the current reading has brought. */
  read: string;
  isOpen: boolean;
}

/**
 * Emitted text cannot be taken back. If a block begins differently at a later reading, because its step was repeated, it is
 * emitted as another block.
 */
export function createReplayFilter(): ReplayFilter {
  const blocks = new Map<string, TextBlock>();
  const sent = new Set<string>();
  let copies = 0;

  function once(key: string, chunk: UIMessageChunk): readonly UIMessageChunk[] {
    if (sent.has(key)) return [];
    sent.add(key);
    return [chunk];
  }

  function begin(block: TextBlock, id: string): UIMessageChunk[] {
    const before: UIMessageChunk[] = block.isOpen ? [{ type: 'text-end', id: block.id }] : [];
    Object.assign(block, { id, sent: '', isOpen: true });
    return [...before, { type: 'text-start', id }];
  }

  function add(given: string, delta: string): readonly UIMessageChunk[] {
    const block = blocks.get(given) ?? { id: given, sent: '', read: '', isOpen: false };
    const isNew = !blocks.has(given);
    blocks.set(given, block);
    block.read += delta;
    if (block.sent.startsWith(block.read)) return [];
    const chunks: UIMessageChunk[] = [];
    if (isNew) chunks.push(...begin(block, given));
    else if (!block.read.startsWith(block.sent) || !block.isOpen) {
      copies += 1;
      chunks.push(...begin(block, `${given} ${copies}`));
    }
    const text = block.read.slice(block.sent.length);
    block.sent = block.read;
    return [...chunks, { type: 'text-delta', id: block.id, delta: text }];
  }

  return {
    restart() {
      for (const block of blocks.values()) block.read = '';
    },
    take(chunk) {
      switch (chunk.type) {
        case 'start':
          return once('start', chunk);
        case 'text-start':
          return [];
        case 'text-delta':
          return add(chunk.id, chunk.delta);
        case 'text-end': {
          const block = blocks.get(chunk.id);
          if (block?.isOpen !== true || block.sent !== block.read) return [];
          block.isOpen = false;
          return [{ type: 'text-end', id: block.id }];
        }
        case 'reasoning-start':
        case 'reasoning-end':
          return once(`${chunk.type} ${chunk.id}`, chunk);
        case 'tool-output-available':
          if (chunk.preliminary === true) return sent.has(`${chunk.type} ${chunk.toolCallId}`) ? [] : [chunk];
          return once(`${chunk.type} ${chunk.toolCallId}`, chunk);
        case 'tool-input-start':
        case 'tool-input-available':
        case 'tool-output-error':
          return once(`${chunk.type} ${chunk.toolCallId}`, chunk);
        default:
          return [chunk];
      }
    },
  };
}
