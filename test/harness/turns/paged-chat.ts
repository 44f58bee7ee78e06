import { expect, onTestFinished } from 'vitest';
import { aiSdkRoutes } from '../../../services/api/src/surfaces/ai-sdk/routes.ts';
import { wireEraseConversation } from '../../../services/api/src/wiring/erase-user.ts';
import { dispatchOn } from '../engines/engines.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { newPerson, type Person } from '../protocols/pods.ts';
import { authenticateByName } from '../protocols/served.ts';
import { startPersonalPod } from './configured.ts';
import { serveSurfaces } from './serve.ts';

/** Who sends, and with what headers. */
export interface Sent {
  readonly as?: Person;
  readonly 'x-supports-pages'?: string;
  readonly 'x-supports-elicitation'?: string;
}

/** A pod with the routes of chats. */
async function servedPod(yaml: string, of?: Pick<ReturnType<typeof startPersonalPod>, 'backend'>) {
  const { backend, engine, turns } = startPersonalPod({ yaml, ...(of && { backend: of.backend }) });
  const limits = callLimitsOn(backend.limits);
  const eraseConversation = wireEraseConversation({ backend, engine, deliveries: dispatchOn(backend) });
  const { url, close } = await serveSurfaces({
    surfaces: [aiSdkRoutes({ engine, limits, turns, eraseConversation })],
    authenticate: authenticateByName,
    limits,
  });
  onTestFinished(close);
  return { backend, engine, url };
}

/**
 * A chat, named `c`, of a person with its own configuration, on two pods that are asked in turns. The model says `Heard: ` at
 * the end.
 */
export async function openPagedChat(yaml: string) {
  const { engine, backend, url } = await servedPod(yaml);
  const other = await servedPod(yaml, { backend });
  let asked = 0;
  const nextPod = () => {
    asked += 1;
    return asked % 2 === 1 ? url : other.url;
  };
  const person = newPerson();
  const sendTo = (pod: string, path: string, body?: unknown, { as = person, ...headers }: Sent = {}) =>
    fetch(`${pod}/run/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${as.token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const send = (path: string, body?: unknown, sent?: Sent) => sendTo(nextPod(), path, body, sent);
  /** Sends to a pod that has another configuration. */
  const sendUnder = async (changed: string, path: string, body?: unknown) =>
    sendTo((await servedPod(changed, { backend })).url, path, body);
  /** Says a text; returns the parts of the stream that name pages. */
  async function chat(text: string, headers: Sent = { 'x-supports-pages': 'true' }) {
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }];
    const said = await (await send('chat', { id: 'c', messages }, headers)).text();
    expect(said).toContain('Heard: ');
    const chunks = said
      .split('\n')
      .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
    return chunks.filter(({ type }) => type === 'data-tool-page');
  }
  const pageOf = async (text = 'shop__order') => {
    const [part] = await chat(text);
    return `chat/c/pages/${encodeURIComponent(part.data.pageId)}`;
  };
  return { url, send, sendUnder, chat, pageOf, engine, person };
}
