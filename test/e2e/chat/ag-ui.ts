import { randomUUID } from 'node:crypto';
import { beforeAll, expect } from 'vitest';
import { CLIENTS, connectStock, resolved, runStock, textOfAgent } from '../../harness/ag-ui/clients.ts';
import { person } from '../../harness/chat/client.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { RECITAL } from './idempotency.ts';
import type { Mourner } from './shared-death.ts';

let chats: ChatSite;
const urlOf = (pod: number) => `${chats.pods[pod]?.url}/run/ag-ui/helper`;

/** A person with the stock client of each version. */
function people() {
  return Promise.all(
    CLIENTS.map(async ({ version, open }) => {
      const { authorization } = await person();
      const threadId = randomUUID();
      const client = (pod: number) => open({ url: urlOf(pod), threadId, headers: { authorization } });
      // Without a stock client: it throws once more, out of reach, when its connection breaks.
      const begin = (runId: string, content: string) =>
        fetch(urlOf(0), {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ threadId, runId, messages: [{ id: 'user-0', role: 'user', content }] }),
        });
      return { version, client, begin };
    }),
  );
}

/** A run that waits for its person. */
export const waitingRun: Mourner = {
  name: 'stock clients of AG-UI answer on another pod, and read the rest there',
  async test({ dies }) {
    const asked = await Promise.all(
      (await people()).map(async ({ client, ...one }) => {
        const agent = client(0);
        const { interrupts } = await runStock(agent, {}, 'ask');
        return { ...one, client, agent, interrupts };
      }),
    );
    await (await dies()).replaced;
    for (const { agent, client, interrupts } of asked) {
      const elsewhere = client(2);
      const connected = await connectStock(elsewhere);
      expect(connected.interrupts.map(({ id }) => id)).toEqual(interrupts.map(({ id }) => id));
      agent.url = urlOf(1);
      const { end } = await runStock(agent, { resume: [resolved(interrupts[0], { answer: 'green' })] });
      expect(end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
      expect(textOfAgent(agent)).toMatch(/^One moment\. Heard .*green.*\.$/);
    }
  },
};

/** A run whose model speaks. */
export const speakingRun: Mourner = {
  name: 'stock clients of AG-UI replace what the pod had said by what the next one says',
  async test({ held, dies, goesOn }) {
    const runId = randomUUID();
    const text = `count ${randomUUID()}`;
    await held();
    const reading = await Promise.all(
      (await people()).map(async ({ client, begin }) => ({ client, dying: await begin(runId, text) })),
    );
    // The same run again, as a client that has lost sight of it sends it, and a page that was reloaded.
    const readers = reading.flatMap(({ client }) => {
      const [again, reloaded] = [client(1), client(2)];
      return [
        { agent: again, done: runStock(again, { runId }, text) },
        { agent: reloaded, done: connectStock(reloaded) },
      ];
    });
    await waitUntil(() => readers.every(({ agent }) => textOfAgent(agent) !== ''), { what: 'the readers' });
    const { replaced } = await dies();
    for (const { dying } of reading) await expect(dying.text()).rejects.toThrow();
    await goesOn();
    for (const [at, { agent, done }] of readers.entries()) {
      const { types, end } = await done;
      expect(textOfAgent(agent)).toBe(`${text} ${RECITAL}`);
      // A client that connects has a snapshot at its beginning, too.
      expect(types.filter((type) => type === 'MESSAGES_SNAPSHOT').length).toBe(1 + (at % 2));
      expect(end?.type).toBe('RUN_FINISHED');
      expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    }
    await replaced;
  },
};

/** Before these runs. */
export function agUiClients(the: () => ChatSite): void {
  beforeAll(() => {
    chats = the();
  });
}
