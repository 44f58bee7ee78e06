import { WakeSignal } from './wake-signal.ts';

/** Comes in place of an item when there was none for the time of a tick. */
export const TICK = Symbol('tick');

/**
 * The items of a source, with a tick whenever none came for `tickMs()`, or when `wake` is notified. An item may come instead
 * of the tick of a notification. Ends with the source. Ending it early does not wait for the source, which its own signal
 * must end.
 */
export async function* withTicks<Item>(
  source: AsyncIterator<Item, unknown>,
  tickMs: () => number,
  wake = new WakeSignal(undefined),
): AsyncGenerator<Item | typeof TICK, void> {
  let next: Promise<IteratorResult<Item, unknown>> | undefined;
  try {
    for (;;) {
      next ??= source.next();
      const first = await Promise.race([next, tickOf(wake, tickMs())]);
      wake.woken();
      if (first === TICK) {
        yield TICK;
        continue;
      }
      next = undefined;
      if (first.done === true) return;
      yield first.value;
    }
  } finally {
    wake.woken();
    next?.catch(() => undefined);
    source.return?.(undefined)?.catch(() => undefined);
  }
}

async function tickOf(wake: WakeSignal, ms: number): Promise<typeof TICK> {
  await wake.sleep(performance.now() + ms);
  return TICK;
}
