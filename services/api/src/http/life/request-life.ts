import type { ServerResponse } from 'node:http';
import type { RouteCall } from '../route.ts';
import type { Drain } from './drain.ts';

/** How long a request lasts: until its caller disconnects, the pod drains, or it was served. */
export interface RequestLife extends Pick<RouteCall, 'signal' | 'draining'> {
  end(): void;
}

/** The abort signal of one request, created at its first use: most handlers never sleep. */
export function createLife(res: ServerResponse, drain: Drain): RequestLife {
  let controller: AbortController | undefined;
  const abort = () => controller?.abort();
  return {
    get signal(): AbortSignal {
      if (controller !== undefined) return controller.signal;
      controller = new AbortController();
      res.once('close', abort);
      drain.add(abort);
      if (drain.hasBegun || res.closed) abort();
      return controller.signal;
    },
    get draining(): boolean {
      return drain.hasBegun;
    },
    end(): void {
      drain.remove(abort);
    },
  };
}
