import type { ToolCall } from '../../tools/tool.ts';
import { textOf } from '../outcome.ts';
import type { RemoteTask } from '../remote-task.ts';

/** Shows on the turn's stream what a task has produced so far. */
export interface Partials {
  show(artifacts: RemoteTask['artifacts']): void;
}

const TEXT_LENGTH_MAX = 4_000;
/** Of all partial texts of a call together: the feed of the turn keeps them. */
const SHOWN_LENGTH_MAX = 64_000;

export function createPartials(call: Pick<ToolCall, 'toolCallId' | 'appendEvent'>): Partials {
  let last = '';
  let shown = 0;
  return {
    show(artifacts) {
      const text = wholeWords(artifacts.map(({ parts }) => textOf(parts)).join('\n\n'));
      if (text === '' || text === last || shown + text.length > SHOWN_LENGTH_MAX) return;
      last = text;
      shown += text.length;
      // A run that can no longer record it learns why by its next write.
      call.appendEvent({ type: 'tool-partial', toolCallId: call.toolCallId, text }).catch(() => undefined);
    },
  };
}

/** The last word may be incomplete, and so a secret that is removed only as a whole. */
function wholeWords(text: string): string {
  const cut = text.slice(0, TEXT_LENGTH_MAX);
  return cut
    .slice(0, cut.search(/\s\S*$/) + 1)
    .trim()
    .toWellFormed();
}
