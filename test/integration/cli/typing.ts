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

/** Presses one key after the other; each waits until the one before has had its effect. */
export async function pressAll(terminal: Terminal, keys: readonly Keys[]): Promise<void> {
  for (const key of keys) {
    const before = stillOf(await terminal.look());
    if ('type' in key) await terminal.type(key.type);
    else await terminal.press(key.press);
    await waitUntil(async () => stillOf(await terminal.look()) !== before, {
      what: `an effect of ${JSON.stringify(key)}`,
    });
  }
}

/** The screen without what changes by itself. */
function stillOf(screen: string): string {
  return screen.replaceAll(/\(\d+:\d\d left\)/g, '');
}
