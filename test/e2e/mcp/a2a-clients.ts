import { randomUUID } from 'node:crypto';
import { Role, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';

export const A2A_BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

/** A stock A2A client; a failed connection is tried again, on whichever pod then takes it. */
export async function openA2aClient(
  url: string,
  binding: (typeof A2A_BINDINGS)[number],
  token: string,
): Promise<Client> {
  const fetchImpl: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    const { pathname, search } = new URL(String(input));
    for (let attempt = 1; ; attempt += 1) {
      try {
        const reply = await fetch(`${url}${pathname}${search}`, { ...init, headers });
        if (reply.status < 500 || attempt === ATTEMPTS) return reply;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const resolver = new DefaultAgentCardResolver({ fetchImpl });
  const card = await resolver.resolve(`${url}/`);
  const transports =
    binding === 'JSONRPC'
      ? [new JsonRpcTransportFactory({ fetchImpl })]
      : [new RestTransportFactory({ fetchImpl })];
  return new ClientFactory({ transports, cardResolver: resolver }).createFromAgentCard({
    ...card,
    supportedInterfaces: card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '1.0'),
  });
}

const ATTEMPTS = 50;
const PAUSE_MS = 200;

/** Sends a text and waits for the task to end or to wait. The same message goes out again where a connection breaks. */
export async function sendText(client: Client, text: string, taskId = ''): Promise<Task> {
  const sent = {
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: randomUUID(),
      taskId,
      contextId: '',
      role: Role.ROLE_USER,
      parts: [
        {
          content: { $case: 'text' as const, value: text },
          metadata: undefined,
          filename: '',
          mediaType: '',
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
  return (await client.sendMessage(sent)) as Task;
}

export function isWaiting({ status }: Task): boolean {
  return status?.state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

export function textOfTask({ artifacts }: Task): string {
  return artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')))
    .join('');
}
