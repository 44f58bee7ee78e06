/** The chat routes of one pod, served in this process, with stock clients for them. */
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { aiSdkRoutes } from '../../../services/api/src/surfaces/ai-sdk/routes.ts';
import { openAiRoutes } from '../../../services/api/src/surfaces/openai/routes.ts';
import { wireEraseConversation } from '../../../services/api/src/wiring/erase-user.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { dispatchOn } from '../../harness/engines/engines.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { authenticateByName } from '../../harness/protocols/served.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import type { TestPod } from '../../harness/turns/setup.ts';
import type { World } from '../../harness/turns/site.ts';

/** The doors to a pod of a world, for the world's person. */
export async function openDoors(world: World, pod: TestPod = {}) {
  const { engine, turns } = world.pod(pod);
  const { backend } = world;
  const limits = callLimitsOn(backend.limits);
  const eraseConversation = wireEraseConversation({ backend, engine, deliveries: dispatchOn(backend) });
  const { tenant, userId } = world.conversation;
  const headers = { authorization: `Bearer ${tenant}/${userId}`, 'x-supports-elicitation': 'true' };
  const { url, close } = await serveSurfaces({
    surfaces: [
      aiSdkRoutes({ engine, limits, turns, eraseConversation }),
      openAiRoutes({ engine, limits, turns, steps: 'live' }),
    ],
    authenticate: authenticateByName,
    limits,
  });
  onTestFinished(close);

  const call = async (method: string, path: string, body?: unknown, as: Record<string, string> = headers) => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { ...as, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    url,
    headers,
    engine,
    turns,
    call,
    openAi: new OpenAI({ baseURL: `${url}/run/v1`, apiKey: `${tenant}/${userId}`, maxRetries: 0 }),
    chat: (id: string) =>
      new PlainChat({ id, transport: new DefaultChatTransport({ api: `${url}/run/api/chat`, headers }) }),
    /** The messages of a conversation as a page reads them after a reload. */
    reloaded: async (id: string) =>
      (await call('GET', `/run/api/chat/${id}/messages`)).body.messages as UIMessage[],
  };
}
