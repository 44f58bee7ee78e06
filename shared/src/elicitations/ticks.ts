/** Comes in place of an item when there was none for the time of a tick. */
export const TICK = Symbol('tick');

/**
 * The items of a source, with a tick whenever none came for `tickMs()`. Ends with the source. Ending it early does not
 * wait for the source, which its own signal must end.
 */
export async function* withTicks<Item>(
  source: AsyncIterator<Item, unknown>,
  tickMs: () => number,
): AsyncGenerator<Item | typeof TICK, void> {
  let next: Promise<IteratorResult<Item, unknown>> | undefined;
  try {
    for (;;) {
      next ??= source.next();
      const first = await orTick(next, tickMs());
      if (first === TICK) {
        yield TICK;
        continue;
      }
      next = undefined;
      if (first.done === true) return;
      yield first.value;
    }
  } finally {
    next?.catch(() => undefined);
    source.return?.(undefined)?.catch(() => undefined);
  }
}

async function orTick<Result>(next: Promise<Result>, ms: number): Promise<Result | typeof TICK> {
  let timer: NodeJS.Timeout | undefined;
  const tick = new Promise<typeof TICK>((resolve) => {
    timer = setTimeout(() => resolve(TICK), ms);
  });
  try {
    return await Promise.race([next, tick]);
  } finally {
    clearTimeout(timer);
  }
}
