import { randomUUID } from 'node:crypto';
import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { NotifyRules } from '@parley/core/domain/notify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AcpSite, openAcpSite } from '../../harness/acp/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const AFTER_MS = 60_000;

let site: AcpSite;
beforeAll(async () => {
  const notify = NotifyRules.parse({ channel: 'slack', afterSeconds: AFTER_MS / 1_000 });
  site = await openAcpSite({ notify, hasChannel: true });
});
afterAll(() => site?.stop());

interface Turn {
  readonly question: RowOf<FamilyTypes>;
  readonly approval: RowOf<FamilyTypes>;
  /** What the client of the turn has received so far. */
  readonly received: () => string;
  readonly userId: string;
}

/** A turn that asks a question and has a call approved; its client reads the reply. */
async function turnOf(headers: Record<string, string>, body: object = {}): Promise<Turn> {
  const userId = randomUUID();
  const authorization = `Bearer ${await site.token(userId)}`;
  let received = '';
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'colour pay' }] }];
  const reply = fetch(`${site.url}/run/api/chat`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ id: randomUUID(), messages, ...body }),
  });
  void reply
    .then(async ({ body: stream }) => {
      for await (const bytes of stream ?? []) received += new TextDecoder().decode(bytes);
    })
    .catch(() => undefined);
  const request = { owner: { tenant: 'acme', userId }, limit: 5 };
  const [question, approval] = await waitUntil(
    async () => {
      const [one] = (await site.engine.list(request)).rows;
      const [other] = (await site.engine.approvals.list(request)).rows;
      return one !== undefined && other !== undefined && ([one, other] as const);
    },
    { what: 'a question and an approval' },
  );
  return { question, approval, received: () => received, userId };
}

const dueInMs = (row: RowOf<FamilyTypes>) => site.engine.notices.dueInMs(row, row.createdAt + AFTER_MS);
const untilSeen = (row: RowOf<FamilyTypes>) =>
  waitUntil(async () => ((await dueInMs(row)) ?? 0) > 0, { what: `${row.id} as seen` });

it('what the stream of a turn has shown to its person is notified later', async () => {
  const { question, approval } = await turnOf({ 'x-supports-elicitation': 'true' });
  await untilSeen(question);
  await untilSeen(approval);
});

it('a question is notified that the client of its turn cannot show, though it was sent to it', async () => {
  const { question, approval, received } = await turnOf({});
  await waitUntil(() => received().includes(question.id), { what: 'the question in the stream' });
  await untilSeen(approval);
  expect(await dueInMs(question)).toBe(0);
});

it('what no client shows is notified, until the person reads the stream request themselves', async () => {
  const { question, approval, userId } = await turnOf({}, { stream: false });
  expect([await dueInMs(question), await dueInMs(approval)]).toEqual([0, 0]);
  const stop = new AbortController();
  const stream = `${site.url}/v1/streams/${question.definition.streamRequestId}/events`;
  await fetch(stream, {
    headers: { authorization: `Bearer ${await site.token(userId)}` },
    signal: stop.signal,
  });
  await untilSeen(question);
  await untilSeen(approval);
  stop.abort();
});
