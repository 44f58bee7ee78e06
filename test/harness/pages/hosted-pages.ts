import { createServer, type RequestListener } from 'node:http';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import { listenOnFreePort } from '../free-port.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { createPages, type PagesDeps } from './pages-server.ts';

/** More than any test does. */
const ROOM = 100_000;

export interface HostedPages {
  /** Known before the pods start, because they name it to people. */
  readonly publicUrl: string;
  /** Serves the pages of a pod from now on. */
  serve(pod: { readonly engine: Engine; readonly backend: Backend }, deps: HostedPagesDeps): void;
  close(): void;
}

export type HostedPagesDeps = Pick<PagesDeps, 'identity' | 'keys' | 'vault'> & Partial<PagesDeps>;

const NO_TARGETS = { find: () => undefined, credentials: () => [], connector: () => undefined };

/** The hosted pages at an address of their own. People may do as much as they want there. */
export async function openHostedPages(): Promise<HostedPages> {
  let listener: RequestListener = () => undefined;
  const server = createServer((req, res) => listener(req, res));
  const publicUrl = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  return {
    publicUrl,
    serve({ engine, backend: { elicitations, approvals, pages: store, limits } }, deps) {
      const callLimits = callLimitsOn(limits, { userStreams: 5, serviceCalls: ROOM });
      const rules = {
        linksApprovals: true,
        brand: {},
        notifyOrigins: [],
        proxyHops: 0,
        failuresMax: ROOM,
        postsMax: ROOM,
      };
      const pod = { publicUrl, engine, elicitations, approvals, store, limits, callLimits };
      listener = createPages(
        { ...pod, ...rules, targets: NO_TARGETS, onEvent: () => undefined, ...deps },
        { serviceKeys: [], tokenSecret: 'a secret of tests, and of nothing else' },
      );
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
