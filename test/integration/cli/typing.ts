import { type Keys, type KindCase, keysBack } from '../../harness/cli/kinds.ts';
import type { Terminal } from '../../harness/tmux.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Types the answer of a case; first a refused input, where there is one. */
export async function typeAnswer(
  terminal: Terminal,
  one: KindCase,
  { withWrong }: { readonly withWrong: boolean },
) {
  if (withWrong && one.wrong !== undefined) {
    await pressAll(terminal, one.wrong.keys);
    await terminal.untilShown(one.wrong.fault);
    await pressAll(terminal, keysBack(one));
  }
  await pressAll(terminal, one.keys);
}

/** Presses one key after the other; each waits until the one before has had its effect and a prompt listens. */
export async function pressAll(terminal: Terminal, keys: readonly Keys[]): Promise<void> {
  for (const key of keys) {
    await waitUntil(async () => !isBetweenPrompts(await terminal.screen()), {
      what: `a prompt for ${JSON.stringify(key)}`,
    });
    const before = stillOf(await terminal.look());
    if ('type' in key) await terminal.type(key.type);
    else await terminal.press(key.press);
    await waitUntil(async () => !isPartOf(stillOf(await terminal.look()), before), {
      what: `an effect of ${JSON.stringify(key)}`,
    });
  }
}

/** The screen without what changes by itself. */
function stillOf(screen: string): string {
  return screen.replaceAll(/\(\d+:\d\d left\)/g, '');
}

/** Whether a screen is another one, or its beginning: a prompt erases its lines before it draws them again. */
function isPartOf(screen: string, whole: string): boolean {
  const lines = whole.split('\n');
  return screen
    .trimEnd()
    .split('\n')
    .every((line, at) => line === lines[at]);
}

/**
 * Whether an answered prompt or a notice is the last on the screen: an open prompt ends with the corner of its frame.
 * A key that is pressed then meets a terminal without its raw mode, where Enter becomes another key.
 */
function isBetweenPrompts(screen: string): boolean {
  return /^[│■◇]/.test(screen.trimEnd().split('\n').at(-1) ?? '');
}
