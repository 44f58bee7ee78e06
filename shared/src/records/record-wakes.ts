/**
 * Routes the wakes of a stream request to the waiters of single records, because one stream request may have thousands of
 * waiters. What a waiter does with a wake is in `wait.ts`.
 */

import type { Family, FamilyTypes, RecordWake } from '@parley/core/domain/family';
import { elicitationOfOwnStream, formatStreamPath, type StreamRef } from '@parley/core/domain/ids';
import type { BusSignal, EventBus, Subscription } from '../ports/elicitations/event-bus.ts';

/** The wakes of single records, for waiters. */
export interface RecordWakes<T extends FamilyTypes> {
  /**
   * The same as `EventBus.subscribe`, but only for the wakes of one record of a stream request. Each call needs its own
   * listener.
   */
  subscribe(stream: StreamRef, id: string, listener: RecordListener<T>): Subscription;
}

type RecordListener<T extends FamilyTypes> = (signal: BusSignal<RecordWake<T>>) => void;

interface StreamWaiters<T extends FamilyTypes> {
  readonly name: string;
  /**
   * The arrays are replaced, never changed. Most have one listener, and an array of exactly that size takes the least memory.
   */
  readonly byRecord: Map<string, readonly RecordListener<T>[]>;
  /** True once the bus has sent `resync`; later waiters must then get a `resync` of their own. */
  isSynced: boolean;
  subscription?: Subscription;
}

/**
 * Passes each wake of a stream request to the waiters of its record only. A stream request may have thousands of waiters on one
 * pod, and if each wake called all of them, every settlement would cost as much as there are waiters.
 */
export function createRecordWakes<T extends FamilyTypes>(
  bus: EventBus<T['wake']>,
  family: Pick<Family<T>, 'readWake'>,
): RecordWakes<T> {
  const routes = new Map<string, StreamWaiters<T>>();

  function subscribeAlone(stream: StreamRef, id: string, listener: RecordListener<T>): Subscription {
    return bus.subscribe(stream, (signal) => {
      if (signal.type === 'resync') return listener(signal);
      const event = family.readWake(signal.event);
      if (event?.id === id) listener({ type: 'event', event });
    });
  }

  function openRoute(name: string, stream: StreamRef): StreamWaiters<T> {
    const route: StreamWaiters<T> = { name, byRecord: new Map(), isSynced: false };
    routes.set(name, route);
    route.subscription = bus.subscribe(stream, (signal) => {
      if (signal.type === 'resync') {
        route.isSynced = true;
        for (const listeners of route.byRecord.values()) for (const listener of listeners) listener(signal);
        return;
      }
      const event = family.readWake(signal.event);
      if (event === undefined) return;
      for (const listener of listenersOf(route, event.id)) listener({ type: 'event', event });
    });
    return route;
  }

  function leave(route: StreamWaiters<T>, id: string, listener: RecordListener<T>): void {
    const others = listenersOf(route, id).filter((each) => each !== listener);
    if (others.length > 0) route.byRecord.set(id, others);
    else route.byRecord.delete(id);
    if (route.byRecord.size > 0 || routes.get(route.name) !== route) return;
    routes.delete(route.name);
    route.subscription?.unsubscribe();
  }

  return {
    subscribe(stream, id, listener) {
      // Such a stream request has only this record, and a waiter without a route takes less memory.
      if (elicitationOfOwnStream(stream.streamRequestId) !== undefined)
        return subscribeAlone(stream, id, listener);
      const name = formatStreamPath(stream);
      const route = routes.get(name) ?? openRoute(name, stream);
      route.byRecord.set(id, [...listenersOf(route, id), listener]);
      if (route.isSynced) resyncSoon(route, id, listener);
      return new RouteSubscription(leave, route, id, listener);
    },
  };
}

/** This is a class because a waiter may exist for days, and methods on a prototype take no memory per instance. */
class RouteSubscription<T extends FamilyTypes> implements Subscription {
  readonly #leave: (route: StreamWaiters<T>, id: string, listener: RecordListener<T>) => void;
  readonly #route: StreamWaiters<T>;
  readonly #id: string;
  readonly #listener: RecordListener<T>;

  constructor(
    leave: (route: StreamWaiters<T>, id: string, listener: RecordListener<T>) => void,
    route: StreamWaiters<T>,
    id: string,
    listener: RecordListener<T>,
  ) {
    this.#leave = leave;
    this.#route = route;
    this.#id = id;
    this.#listener = listener;
  }

  unsubscribe(): void {
    this.#leave(this.#route, this.#id, this.#listener);
  }
}

function listenersOf<T extends FamilyTypes>(
  { byRecord }: StreamWaiters<T>,
  id: string,
): readonly RecordListener<T>[] {
  return byRecord.get(id) ?? [];
}

function resyncSoon<T extends FamilyTypes>(
  route: StreamWaiters<T>,
  id: string,
  listener: RecordListener<T>,
): void {
  queueMicrotask(() => {
    if (listenersOf(route, id).includes(listener)) listener({ type: 'resync' });
  });
}
