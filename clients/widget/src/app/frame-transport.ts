import type { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';

type FrameTransport = Parameters<AppBridge['connect']>[0];

const PER_SECOND_MAX = 100;
const SIZE_MAX = 1_000_000;

interface SandboxFrame {
  readonly frame: Window;
  /** The origin of the sandbox. Messages are exchanged with no other origin. */
  readonly origin: string;
  /** Called when the view sends more messages than a person could cause. */
  readonly onFlood: () => void;
}

/** Exchanges messages with a frame, limited in number and size. */
export function createFrameTransport({ frame, origin, onFlood }: SandboxFrame): FrameTransport {
  let second = 0;
  let count = 0;

  function isFlood(): boolean {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) count = 0;
    second = now;
    count += 1;
    return count > PER_SECOND_MAX;
  }

  const receive = (event: MessageEvent) => {
    if (event.source !== frame || event.origin !== origin) return;
    if (isFlood()) return onFlood();
    const message: unknown = event.data;
    if (typeof message !== 'object' || message === null || !('jsonrpc' in message)) return;
    if (sizeOf(message) > SIZE_MAX) return;
    transport.onmessage?.(message as never);
  };

  const transport: FrameTransport = {
    async start() {
      window.addEventListener('message', receive);
    },
    async send(message) {
      frame.postMessage(message, origin);
    },
    async close() {
      window.removeEventListener('message', receive);
      transport.onclose?.();
    },
  };
  return transport;
}

/** The size of a message as JSON. A value that JSON cannot express is no message. */
function sizeOf(message: object): number {
  try {
    return JSON.stringify(message).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
