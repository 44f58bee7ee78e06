import { mintStreamRequestId, type Owner } from '@parley/core/domain/ids';
import type { Message } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { NewRun, RunWrite } from '@parley/shared/ports/runs/runs';

export const HELLO: Message = { role: 'user', content: 'Hello' };

export function turnOf(owner: Owner, conversationId = 'talk', podId = 'pod-a'): NewRun {
  return {
    ...owner,
    streamRequestId: mintStreamRequestId(),
    conversationId,
    agent: 'helper',
    owner: podId,
    support: { form: true, url: true },
    input: [HELLO],
    event: { type: 'turn-started', conversationId, messageId: 'msg_1', agent: 'helper' },
  };
}

function deltas(from: number, to: number): TurnEvent[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    type: 'text-delta',
    block: 'b1',
    text: `${from + index} `,
  }));
}

/** Events numbered `from` to `to`; the first event of a run, 1, is its start. */
export function textWrite(from: number, to: number, more: Partial<RunWrite> = {}): RunWrite {
  return { term: 1, firstSeq: from, events: deltas(from, to), ...more };
}
