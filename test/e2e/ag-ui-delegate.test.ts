/** Pods as processes whose agent delegates to a stock AG-UI server, and a kill between its interrupt and the answer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgUiServer, startAgUiServer } from '../harness/ag-ui/remote-agent.ts';
import { createChatClient, person, SECRET, textOf, untilAsked } from '../harness/chat/client.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';

let site: Site;
let agent: AgUiServer;
let pods: SitePod[] = [];
let env: Record<string, string> = {};
beforeAll(async () => {
  [site, agent] = await Promise.all([openSite(), startAgUiServer()]);
  const model = await site.model({
    script: [
      ({ userText, results }) =>
        results.length > 0
          ? { text: results.map(({ text }) => text).join(' ') }
          : { calls: [{ name: 'delegate_to_desk', arguments: { task: userText } }] },
    ],
  });
  const config = site.agents(
    model.url,
    `agUiAgents:
  desk: { title: Travel Desk, url: "${agent.url}", credentialScope: none }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., delegates: [{ agent: desk, description: Travels. }] }
`,
  );
  // A pod on a busy machine must not be mistaken for a dead one.
  env = { PARLEY_CONFIG: config, PARLEY_JWT_SECRET: SECRET, PARLEY_LEASE_MS: '10000' };
  pods = await Promise.all([0, 1].map(() => site.pod(env)));
});
afterAll(async () => {
  await site?.stop();
  await agent?.stop();
});

const { say, resume, post } = createChatClient((pod) => pods[pod]?.url ?? '');

it.each(['hold', 'detach'] as const)(
  'another pod answers the interrupt of a pod that was killed, and the task was begun once (%s)',
  async (delivery) => {
    const { authorization } = await person();
    const chatId = `killed-${delivery}`;
    const before = agent.inputs.length;
    const chat = await say({ authorization, text: 'form state', chatId, pod: 0, delivery });
    const elicitationId = await untilAsked(chat);
    if (delivery === 'detach') await chat.done;
    else chat.done.catch(() => undefined);
    pods[0]?.kill('SIGKILL');
    const reader = await resume(1, authorization, chatId);
    const body = { conversationId: chatId, elicitationId, action: 'accept', content: { seat: 'aisle' } };
    expect((await post(1, '/run/api/elicitation-responses', authorization, body)).status).toBe(200);
    if (delivery === 'detach') await reader?.done;
    const followed = delivery === 'hold' ? reader : await resume(1, authorization, chatId);
    expect(textOf(await followed?.done)).toContain(
      'Heard: [{"status":"resolved","payload":{"seat":"aisle"}}] {"trip":{"legs":["Ghent","Bruges"]}}',
    );
    const [first, second] = agent.inputs.slice(before);
    expect(agent.inputs).toHaveLength(before + 2);
    expect(second?.threadId).toBe(first?.threadId);
    pods[0] = await site.pod(env);
  },
);
