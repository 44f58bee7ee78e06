/** The page of a host, in a browser: the official `AppBridge` shows a card in a sandbox of another origin. */

import type { CallToolResult } from '@modelcontextprotocol/client';
import {
  AppBridge,
  type McpUiHostContext,
  PostMessageTransport,
} from '@modelcontextprotocol/ext-apps/app-bridge';

/** What a test tells the page, and what the page tells the test. Calls go through bindings of the test. */
interface HostWindow {
  /** A tool call of the card. */
  callTool(params: { readonly name: string; readonly arguments?: object }): Promise<CallToolResult | null>;
  /** What the card asks of the host. */
  noted(what: string, value: unknown): Promise<void>;
  startCard(card: StartedCard): Promise<void>;
  sendResult(result: object): Promise<void>;
  changeContext(context: object): Promise<void>;
}

export interface StartedCard {
  readonly sandbox: string;
  readonly html: string;
  readonly csp: object;
  readonly context: object;
  readonly arguments: Record<string, unknown>;
  /** Whether the host sends messages of the card to its model. */
  readonly takesMessages: boolean;
}

const host = globalThis as unknown as HostWindow;
let bridge: AppBridge;

host.startCard = async ({ sandbox, html, csp, context, arguments: args, takesMessages }) => {
  const frame = document.createElement('iframe');
  frame.title = 'card';
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  frame.style.cssText = 'inline-size: 100%; block-size: 0; border: 0; display: block';
  document.body.append(frame);
  const view = frame.contentWindow as Window;
  bridge = new AppBridge(
    null,
    { name: 'a host', version: '1.0.0' },
    { openLinks: {}, serverTools: {} },
    { hostContext: context as McpUiHostContext },
  );
  bridge.onopenlink = async ({ url }) => {
    await host.noted('link', url);
    return {};
  };
  bridge.onmessage = async (message) => {
    await host.noted('message', message);
    return takesMessages ? {} : { isError: true };
  };
  bridge.oncalltool = async (params) => {
    const result = await host.callTool(params as never);
    if (result === null) throw new Error('The host refuses tool calls.');
    return result;
  };
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) frame.style.blockSize = `${height}px`;
  };
  const ready = new Promise<void>((resolve) => {
    bridge.onsandboxready = () => resolve();
  });
  const begun = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(new PostMessageTransport(view, view));
  frame.src = sandbox;
  await ready;
  await bridge.sendSandboxResourceReady({ html, csp });
  await begun;
  await bridge.sendToolInput({ arguments: args });
};
host.sendResult = (result) => bridge.sendToolResult(result as CallToolResult);
host.changeContext = async (context) =>
  void (await bridge.sendHostContextChange(context as McpUiHostContext));
