import { WakeSignal } from './wake-signal.ts';

/** Yielded instead of an item when a tick passed without one. */
export const TICK = Symbol('tick');

/**
 * Yields the items of a source, and `TICK` when no item came for `tickMs()` or when `wake` was notified. When an item and a
 * notification coincide, only the item may be yielded. The generator ends with the source. A caller that stops early does not
 * wait for the source and must end it by the source's own signal.
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
