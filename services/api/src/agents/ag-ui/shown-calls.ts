import { isRecord } from '@parley/core/domain/plain-record';
import { visible } from '@parley/core/domain/visible';
import { maskArguments } from '@parley/shared/domain/approvals/mask';
import { shownNameOf } from './checkpoint.ts';
import { parsed } from './read-interrupts.ts';
import type { AgUiTaskRun } from './task-run.ts';
import type { ThreadCallEvent } from './thread.ts';

/** Shows an agent's calls on the turn's stream, like the calls of other delegates. */
interface ShownCalls {
  /** Rejects when the run belongs to another pod. */
  show(events: readonly ThreadCallEvent[]): Promise<void>;
  /** Shows calls as ended whose results the agent has not sent. */
  close(): Promise<void>;
}

/** Further calls are not shown. */
const CALLS_MAX = 100;
const NAME_LENGTH_MAX = 128;
const TEXT_LENGTH_MAX = 2_000;

/** Each call is recorded before it is shown, so a run that is posted again shows no call twice. */
export function createShownCalls(run: Pick<AgUiTaskRun, 'link' | 'call' | 'state' | 'save'>): ShownCalls {
  const { link, call } = run;

  async function showOne(event: ThreadCallEvent): Promise<void> {
    const { shownCalls } = run.state;
    const name = shownNameOf(event.id);
    const known = shownCalls[name];
    const isNew = event.type === 'called' ? known === undefined : known === false;
    if (!isNew || (known === undefined && Object.keys(shownCalls).length >= CALLS_MAX)) return;
    await run.save({ shownCalls: { ...shownCalls, [name]: event.type === 'returned' } });
    const toolCallId = `${call.toolCallId}.${name}`;
    if (event.type === 'returned') {
      const output = link.scrub.text(event.content).slice(0, TEXT_LENGTH_MAX).toWellFormed();
      return call.appendEvent({ type: 'tool-returned', toolCallId, output });
    }
    return call.appendEvent({
      type: 'tool-called',
      toolCallId,
      toolName: link.scrub.text(visible(event.name)).slice(0, NAME_LENGTH_MAX).toWellFormed(),
      input: inputOf(link.scrub.value(parsed(event.arguments))),
      agent: link.agent.title,
    });
  }

  return {
    async close() {
      const open = Object.entries(run.state.shownCalls).flatMap(([name, isOver]) => (isOver ? [] : [name]));
      if (open.length === 0) return;
      const over = Object.fromEntries(open.map((name) => [name, true]));
      await run.save({ shownCalls: { ...run.state.shownCalls, ...over } });
      for (const name of open) {
        const toolCallId = `${call.toolCallId}.${name}`;
        await call.appendEvent({ type: 'tool-returned', toolCallId, output: null });
      }
    },
    async show(events) {
      for (const event of events) await showOne(event);
    },
  };
}

/** Arguments as they are shown: without secrets, and only if they are short enough. */
function inputOf(args: unknown): unknown {
  if (!isRecord(args)) return {};
  const { arguments: shown, fault } = maskArguments(args, {});
  return fault !== undefined || JSON.stringify(shown).length > TEXT_LENGTH_MAX ? {} : shown;
}
