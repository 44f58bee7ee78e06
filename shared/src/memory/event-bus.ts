import type { BusSignal, EventBus, Subscription, Topic } from '../ports/elicitations/event-bus.ts';

/** The event bus of one process. Delivery is asynchronous, in order and without loss. */
export class InProcessEventBus<T> implements EventBus<T> {
  readonly #listeners = new Map<string, Set<(signal: BusSignal<T>) => void>>();

  async publish(topic: Topic, event: T): Promise<void> {
    this.announce(topic, event);
  }

  /** Publishes synchronously, for commits, whose last act is to publish. */
  announce(topic: Topic, event: T): void {
    for (const listener of this.#listeners.get(nameOf(topic)) ?? []) {
      queueMicrotask(() => listener({ type: 'event', event }));
    }
  }

  subscribe(topic: Topic, listener: (signal: BusSignal<T>) => void): Subscription {
    const name = nameOf(topic);
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set);
    let active = true;
    const deliver = (signal: BusSignal<T>) => {
      if (active) listener(signal);
    };
    set.add(deliver);
    queueMicrotask(() => deliver({ type: 'resync' }));
    return {
      unsubscribe: () => {
        active = false;
        set.delete(deliver);
        if (set.size === 0 && this.#listeners.get(name) === set) this.#listeners.delete(name);
      },
    };
  }
}

function nameOf({ tenant, userId, streamRequestId }: Topic): string {
  return JSON.stringify([tenant, userId, streamRequestId ?? null]);
}
