import { afterAll, beforeAll, expect, it } from 'vitest';
import { serviceKeyOf } from '../harness/load/load-env.ts';
import { choose, newOwner } from '../harness/site/pod-client.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type Receiver, replyWith, SECRET, startReceiver, verified } from '../harness/webhooks/setup.ts';

let site: Site;
let pods: SitePod[];
const owner = newOwner();
const env = { PARLEY_WEBHOOK_SECRETS: `${owner.tenant}:${SECRET}`, PARLEY_OUTBOX_MS: '200' };

beforeAll(async () => {
  site = await openSite();
  await site.worker(env);
  pods = await Promise.all([0, 1].map(() => site.pod(env)));
});
afterAll(() => site?.stop());

const waitForDeliveries = (receiver: Receiver, times: number) =>
  waitUntil(() => receiver.received.length >= times, { what: `${times} webhooks` });

it('an asker on one pod gets a webhook for an answer on another pod that dies at once', async () => {
  const receiver = await startReceiver();
  const settler = await site.pod(env);
  const asked = await (pods[0] as SitePod).ask({ owner, webhookUrl: receiver.url });
  const { id } = asked;
  const { status } = await settler.answer(asked, choose('red'));
  settler.kill('SIGKILL');
  expect(status).toBe(200);
  await waitForDeliveries(receiver, 1);
  const [delivered] = receiver.received;
  expect(delivered?.headers['webhook-id']).toBe(`msg_${id}`);
  expect(delivered && (await verified(delivered))).toMatchObject({
    type: 'elicitation.accepted',
    data: { elicitationId: id, status: 'accepted', content: { choice: 'red' } },
  });
});

it('the webhook of an expired question is sent without any reader, and repeated until it is accepted', async () => {
  const receiver = await startReceiver((...call) => replyWith(call[2] === 1 ? 503 : 204)(...call));
  const { id } = await (pods[1] as SitePod).ask({ owner, webhookUrl: receiver.url, timeoutSeconds: 1 });
  await waitForDeliveries(receiver, 2);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([`msg_${id}`, `msg_${id}`]);
  expect(await Promise.all(receiver.received.map((each) => verified(each)))).toMatchObject([
    { type: 'elicitation.expired' },
    { type: 'elicitation.expired' },
  ]);
});

it('a webhook that is never accepted is a dead letter, which any pod lists and sends again', async () => {
  const [one, other] = pods as [SitePod, SitePod];
  let gone = true;
  const receiver = await startReceiver((...call) => replyWith(gone ? 410 : 204)(...call));
  const asked = await one.ask({ owner, webhookUrl: receiver.url });
  const { id } = asked;
  await other.answer(asked, { action: 'decline' });
  const list = async () => {
    const { body } = await one.call('GET', '/v1/webhooks/dead-letters', serviceKeyOf(owner.tenant));
    return (body.deadLetters as { deliveryId: string; lastStatus?: number }[]).filter(
      ({ deliveryId }) => deliveryId === `msg_${id}`,
    );
  };
  await waitUntil(async () => (await list()).length === 1, { what: 'the dead letter' });
  expect(await list()).toMatchObject([{ lastStatus: 410, attempts: 1 }]);
  gone = false;
  const path = `/v1/webhooks/dead-letters/msg_${id}/redrive`;
  expect((await other.call('POST', path, serviceKeyOf(owner.tenant))).status).toBe(200);
  await waitForDeliveries(receiver, 2);
  expect(await list()).toEqual([]);
  expect((await other.call('POST', path, serviceKeyOf(owner.tenant))).status).toBe(404);
});
