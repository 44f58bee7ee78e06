import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import { config } from 'zod';
import { createFrameTransport } from './frame-transport.ts';
import type { AppPage, AppToolResult } from './parley.ts';

// Without this, zod tries to compile functions from text, which a strict page refuses and reports.
config({ jitless: true });

type HostOptions = NonNullable<ConstructorParameters<typeof AppBridge>[3]>;
/** What the view is told about its surroundings. */
export type AppContext = NonNullable<HostOptions['hostContext']>;

interface AppHostOptions {
  readonly frame: Window;
  readonly origin: string;
  readonly shown: AppPage;
  readonly context: AppContext;
  /** Calls a tool of the page's server. */
  readonly call: (name: string, args: unknown, signal: AbortSignal) => Promise<AppToolResult>;
  /** Resolves with whether the person opened the address. */
  readonly openLink: (url: string) => Promise<boolean>;
  readonly onHeight: (height: number) => void;
  readonly onFlood: () => void;
}

/** A running page. */
export interface AppHost {
  setContext(context: AppContext): void;
  close(): void;
}

const CALLS_MAX = 4;

/** Runs a page in a sandbox and acts as its host. The page gets no token, and can call nothing but the tools of its server. */
export async function startApp(options: AppHostOptions): Promise<AppHost> {
  const { frame, origin, shown, context, onFlood } = options;
  const ending = new AbortController();
  const capabilities = { openLinks: {}, serverTools: {} };
  const bridge = new AppBridge(null, { name: 'parley', version: '0.1.0' }, capabilities, {
    hostContext: context,
  });
  let calls = 0;
  bridge.oncalltool = async ({ name, arguments: args }) => {
    if (calls >= CALLS_MAX) throw new Error('Too many calls are under way.');
    calls += 1;
    try {
      return (await options.call(name, args, ending.signal)) as never;
    } finally {
      calls -= 1;
    }
  };
  bridge.onopenlink = async ({ url }) => ({ isError: !(await options.openLink(url)) });
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) options.onHeight(height);
  };
  bridge.onrequestdisplaymode = async () => ({ mode: 'inline' });
  const { page, input, result } = shown;
  bridge.onsandboxready = () => {
    void bridge.sendSandboxResourceReady({ html: page.html, csp: page.csp as never });
  };
  bridge.oninitialized = () => {
    const args = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
    void bridge.sendToolInput({ arguments: args }).then(() => bridge.sendToolResult(result as never));
  };
  await bridge.connect(createFrameTransport({ frame, origin, onFlood }));
  return {
    setContext: (next) => bridge.setHostContext(next),
    close() {
      ending.abort();
      void bridge.close();
    },
  };
}
