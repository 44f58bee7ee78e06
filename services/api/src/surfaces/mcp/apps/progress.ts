import type { StreamEvent } from '@parley/core/domain/events';
import { readableLine } from '@parley/core/domain/readable';
import type { CardProgress } from '@parley/core/domain/runs/call-card';
import { type TurnEvent, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import { messageOfTurn } from '../progress.ts';
import { oneLine } from '../waiting/told.ts';

/** The text of the newest event that MCP clients get as progress. Undefined if it only says that the call is working. */
export async function latestProgress(
  newestFirst: AsyncIterable<StreamEvent>,
): Promise<CardProgress | undefined> {
  for await (const stored of newestFirst) {
    const event = turnEventOf(stored);
    if (event !== undefined && messageOfTurn(event) !== undefined) return shownOf(event);
  }
  return undefined;
}

function shownOf(event: TurnEvent): CardProgress | undefined {
  if (event.type === 'tool-called') return { tool: safe(event.title ?? event.toolName) };
  if (event.type !== 'tool-progress') return undefined;
  const { progress, total, message } = event;
  return {
    ...(message !== undefined && { message: safe(message) }),
    progress,
    ...(total !== undefined && { total }),
  };
}

function safe(text: string): string {
  return oneLine(readableLine(text));
}
