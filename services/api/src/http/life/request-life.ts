import type { ServerResponse } from 'node:http';
import type { RouteCall } from '../route.ts';
import type { Drain } from './drain.ts';

/** The abort reason when a call or its stream is over. It is shared, because a new one for each would record a stack trace. */
export const CALL_OVER: Error = new DOMException('The call is over.', 'AbortError');

/**
 * The lifetime of a request: until its caller disconnects, the pod drains, or it was served. It is a class because a pod holds
 * one for each stream.
 */
export class RequestLife implements Pick<RouteCall, 'signal' | 'draining' | 'whenOver'> {
  readonly #res: ServerResponse;
  readonly #drain: Drain;
  #controller: AbortController | undefined;
  #listeners: (() => void)[] | undefined;
  readonly #end = (): void => {
    // A listener may be added after the reply was sent.
    this.#drain.remove(this.#end);
    const listeners = this.#listeners ?? [];
    this.#listeners = [];
    for (const listener of listeners) listener();
  };

  constructor(res: ServerResponse, drain: Drain) {
    this.#res = res;
    this.#drain = drain;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.whenOver(() => controller.abort(CALL_OVER));
    }
    return this.#controller.signal;
  }

  get draining(): boolean {
    return this.#drain.hasBegun;
  }

  whenOver(listener: () => void): void {
    if (this.#drain.hasBegun || this.#res.closed) listener();
    else if (this.#listeners !== undefined) this.#listeners.push(listener);
    else {
      this.#listeners = [listener];
      this.#res.once('close', this.#end);
      this.#drain.add(this.#end);
    }
  }

  /** Marks the request as served. */
  served(): void {
    this.#drain.remove(this.#end);
  }
}
