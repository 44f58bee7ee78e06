import type { BusSignal, EventBus, Subscription, Topic } from '../../ports/elicitations/event-bus.ts';
import type { Commands } from '../client/connect.ts';
import { channelName } from '../client/keys.ts';
import { loadScript, type Script } from '../client/script.ts';
import type { Subscriber } from '../client/subscriber.ts';

interface RedisEventBusOptions<T> {
  readonly redis: Commands;
  readonly subscriber: Subscriber;
  /** The name of this event type in its channels, for example `stream` or `inbox`. */
  readonly family: string;
  readonly encode: (event: T) => string;
  /** Returns undefined for a message that this version cannot read; such a message is dropped. */
  readonly decode: (message: string) => T | undefined;
}

/** Events between pods over Redis Pub/Sub; the counterpart of InProcessEventBus. */
export class RedisEventBus<T> implements EventBus<T> {
  readonly #options: RedisEventBusOptions<T>;
  readonly #publish: Script;
  /** The last decoded message, cached because all listeners of a channel get the same message one after the other. */
  #decoded: { readonly message: string; readonly event: T | undefined } | undefined;

  constructor(options: RedisEventBusOptions<T>) {
    this.#options = options;
    this.#publish = loadScript(options.redis, 'feed/publish');
  }

  async publish(topic: Topic, event: T): Promise<void> {
    const { family, encode } = this.#options;
    await this.#publish([channelName(family, topic)], [encode(event)]);
  }

  subscribe(topic: Topic, listener: (signal: BusSignal<T>) => void): Subscription {
    const { subscriber, family } = this.#options;
    const unsubscribe = subscriber.subscribe(channelName(family, topic), (signal) => {
      if (signal.type === 'resync') return listener(signal);
      const event = this.#decode(signal.message);
      if (event !== undefined) listener({ type: 'event', event });
    });
    return { unsubscribe };
  }

  #decode(message: string): T | undefined {
    if (this.#decoded?.message !== message) this.#decoded = { message, event: this.#options.decode(message) };
    return this.#decoded.event;
  }
}
