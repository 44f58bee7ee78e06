import { describe, expect, it } from 'vitest';
import { newCheckpoint, parseTaskCheckpoint } from '../../../services/api/src/agents/a2a/checkpoint.ts';
import { textOfArtifacts } from '../../../services/api/src/agents/a2a/outcome.ts';
import { RemoteTask } from '../../../services/api/src/agents/a2a/remote-task.ts';
import type { TaskRun } from '../../../services/api/src/agents/a2a/task-run.ts';
import { createPartials } from '../../../services/api/src/agents/remote/partials.ts';

/** The text of a task with an artifact for each list of texts. */
function madeOf(...artifacts: readonly string[][]) {
  const task = RemoteTask.parse({
    id: 'task',
    artifacts: artifacts.map((texts) => ({ parts: texts.map((text) => ({ text })) })),
  });
  return textOfArtifacts(task.artifacts);
}

/** A call that pods attend to one after the other. */
function openCall() {
  let recorded = JSON.stringify(newCheckpoint('call'));
  const shown: string[] = [];
  return {
    shown,
    /** Partial texts on a pod that has just claimed the run. */
    attend() {
      let state = parseTaskCheckpoint(recorded) ?? newCheckpoint('call');
      const run = {
        call: {
          toolCallId: 'call',
          appendEvent: async ({ text }: { text: string }) => void shown.push(text),
        },
        get state() {
          return state;
        },
        async save(change: Partial<TaskRun['state']>) {
          state = { ...state, ...change };
          recorded = JSON.stringify(state);
        },
      };
      return createPartials(run as unknown as TaskRun);
    },
  };
}

describe('the partial texts of a remote task', () => {
  it('are not shown again by the pod that continues the turn', async () => {
    const { attend, shown } = openCall();
    await attend().show(madeOf(['Half of it. The']));
    await attend().show(madeOf(['Half of it. The']));
    expect(shown).toEqual(['Half of it.']);
    await attend().show(madeOf(['Half of it. The rest']));
    expect(shown).toEqual(['Half of it.', 'Half of it. The']);
  });

  it('are at most 64,000 characters for a call, on however many pods', async () => {
    const { attend, shown } = openCall();
    for (let index = 0; index < 40; index += 1)
      await attend().show(madeOf([`${'x'.repeat(3_000)}${index} more`]));
    expect(shown.join('').length).toBeGreaterThan(60_000);
    expect(shown.join('').length).toBeLessThanOrEqual(64_000);
  });

  it.each([
    ['Chinese', '今天天气很好，我们去'],
    ['Japanese', '今日はとても天気'],
    ['Thai', 'วันนี้อากาศดี'],
  ])('are shown in a language without blanks: %s', async (_, text) => {
    const { attend, shown } = openCall();
    await attend().show(madeOf([text]));
    expect(shown).toEqual([text]);
  });

  it('end before a word that may be incomplete, and so before a part of a secret', async () => {
    const { attend, shown } = openCall();
    await attend().show(madeOf(['您的密钥是sk-abc.de']));
    await attend().show(madeOf(['Ваш ключ sk-abc.de']));
    expect(shown).toEqual(['您的密钥是', 'Ваш ключ']);
  });

  it('join the pieces that an agent streams', async () => {
    const { attend, shown } = openCall();
    await attend().show(madeOf(['Hel', 'lo wor', 'ld, all'], ['And mo', 're to', ' come']));
    expect(shown).toEqual(['Hello world, all\n\nAnd more to']);
  });
});
