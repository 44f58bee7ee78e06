import type { Owner } from '@parley/core/domain/ids';
import { bucketOf } from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { OutboxResult, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { describe, expect, it } from 'vitest';
import { slackKind } from '../../../services/api/src/surfaces/slack/delivery/kind.ts';
import { sendReminders } from '../../../services/api/src/surfaces/slack/delivery/notice.ts';
import { stepTask } from '../../../services/api/src/surfaces/slack/delivery/step.ts';
import { turnTask } from '../../../services/api/src/surfaces/slack/delivery/turn.ts';
import type { Links } from '../../../services/api/src/surfaces/slack/store/links.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { askKind, newOwner } from '../../harness/engines/questions.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';
import { readable } from '../../harness/slack/person.ts';
import { newTs, type SlackMessage } from '../../harness/slack/state.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { slackParts } from './parts.ts';

const USER = { teamId: 'T1', userId: 'U1' };
const PLACE = { ...USER, channel: 'D1', thread: '1.1', isPrivate: true };
const STEP: TurnEvent = { type: 'step-started', step: 0 };
const END = { status: 'finished', messages: [] } as const;
const FINISHED: TurnEvent = { type: 'turn-finished', reason: 'stop' };

const delta = (text: string): TurnEvent => ({ type: 'text-delta', block: 'b', text });

/** A turn in a thread of Slack. */
async function turnInSlack() {
  const parts = await slackParts();
  const turn = turnOf(newOwner());
  const { tenant, userId, streamRequestId } = turn;
  const stream = { tenant, userId, streamRequestId };
  const { runs, subscriptions } = parts.backend;
  await runs.begin(turn);
  await parts.deps.links.add(USER, stream);
  await parts.deps.places.putTurn(stream, PLACE, 600_000);
  await subscriptions.add(stream, 'slack', 60_000);
  const kind = slackKind(parts.deps);
  let written = 1;
  return {
    ...parts,
    stream,
    kind,
    /** Makes all deliveries of the person but those of the turn, which it returns. */
    async deliverAll(): Promise<readonly OutboxTask[]> {
      const ofTurn: OutboxTask[] = [];
      for (;;) {
        const taken = await parts.backend.outbox.take(bucketOf(stream), { slack: 10 }, 60_000);
        if (taken.length === 0) return ofTurn;
        for (const one of taken) {
          if (one.task.subject === turnTask(stream).subject) ofTurn.push(one.task);
          else expect(await kind.handle(one.task, 1)).toBe('done');
          await parts.backend.outbox.done(one);
        }
      }
    },
    async write(...events: TurnEvent[]) {
      const end = events.includes(FINISHED) ? { end: END } : {};
      await runs.write(turn, { term: 1, firstSeq: written + 1, events, ...end });
      written += events.length;
    },
    /** The message of this index, as an earlier slice has posted it. */
    async posted(index: number, text: string): Promise<void> {
      const [channel, ts] = ['D1', newTs()];
      parts.slack.messages.push({ ts, channel, thread_ts: '1.1', text, blocks: [], edits: 0 });
      await parts.deps.places.putPosted(stream, `${streamRequestId}/${index}`, { channel, ts });
    },
  };
}

it('offers to decide on all calls of a step once two of them are shown, and ends that with them', async () => {
  const { engine, stream, deliverAll, slack } = await turnInSlack();
  const request = (step: string) => requestApproval(engine, stream, { step });
  const [first] = [await request('sr_one 0'), await request('sr_one 1')];
  await deliverAll();
  expect(slack.messages).toHaveLength(2);
  const third = await request('sr_one 0');
  await deliverAll();
  expect(slack.messages).toHaveLength(4);
  const { ts } = slack.messages.at(-1) as SlackMessage;
  const together = () => readable(slack.messages.find((one) => one.ts === ts) as SlackMessage);
  expect(together()).toContain(`"value":"${first.row.id} ${third.row.id}"`);
  const late = await request('sr_one 0');
  await deliverAll();
  expect(together()).toContain(`"value":"${first.row.id} ${third.row.id} ${late.row.id}"`);
  for (const { row } of [first, third]) await decideAs(engine, stream, row.id, { decision: 'approve' });
  await deliverAll();
  expect(together()).toContain('one by one');
  await decideAs(engine, stream, late.row.id, { decision: 'deny' });
  await deliverAll();
  expect(together()).toContain('No call of this step is open');
  expect(slack.messages).toHaveLength(5);
});

it('reads the calls of its own step alone to show them together', async () => {
  const { engine, stream, deliverAll, deps } = await turnInSlack();
  const steps = ['sr_one 0', 'sr_one 0', 'sr_one 1', 'sr_one 1', 'sr_one 00'];
  const calls = [];
  for (const step of steps) calls.push(await requestApproval(engine, stream, { step }));
  await deliverAll();
  const read: string[] = [];
  const approvals: typeof deps.approvals = {
    ...deps.approvals,
    async read(id) {
      read.push(id);
      return deps.approvals.read(id);
    },
  };
  const [first, second] = calls.map(({ row }) => row);
  expect(await slackKind({ ...deps, approvals }).handle(stepTask(first as ApprovalRow), 1)).toBe('done');
  expect(read).toEqual([first?.id, second?.id]);
});

it('leaves the message of a step as it is whose other calls an earlier version has posted', async () => {
  const { backend, engine, stream, deliverAll, slack } = await turnInSlack();
  const step = 'sr_one 0';
  const [first, second] = [
    await requestApproval(engine, stream, { step }),
    await requestApproval(engine, stream, { step }),
  ];
  await deliverAll();
  const together = () => readable(slack.messages.at(-1) as SlackMessage);
  const before = together();
  expect(before).toContain(`"value":"${first.row.id} ${second.row.id}"`);
  await backend.ownerRecords.slack.remove(stream, `slack-call/${step}/${first.row.id}`);
  await decideAs(engine, stream, second.row.id, { decision: 'deny' });
  await deliverAll();
  expect(together()).toBe(before);
});

it.each<[string, (links: Links, owner: Owner) => Promise<void>]>([
  ['is of another person', (links) => links.add(USER, newOwner())],
  [
    'ended with an installation, and its person has another one',
    (links) => links.removeAll({ teamId: 'T1' }),
  ],
  ['was erased, and its person has another one', (links, owner) => links.removeOf(owner)],
])('shows a Slack user whose link %s nothing more', async (_what, end) => {
  const { engine, deps, stream, deliverAll, slack, write, kind } = await turnInSlack();
  const elsewhere = { ...stream, streamRequestId: 'sr-elsewhere' };
  const notify = { channel: 'slack' as const, afterSeconds: 0 };
  const ask = async () => [
    await requestApproval(engine, stream),
    await requestApproval(engine, stream),
    await requestApproval(engine, elsewhere, { notify }),
  ];
  const asked = await ask();
  await write(STEP, delta('Hello'));
  await deliverAll();
  expect(slack.messages).toHaveLength(4);
  await end(deps.links, stream);
  await deps.links.add({ ...USER, userId: 'U2' }, stream);
  const before = JSON.stringify(slack.messages);
  for (const { row } of asked) await decideAs(engine, row.definition, row.id, { decision: 'deny' });
  await write(delta(', and the rest'), FINISHED);
  for (const task of await deliverAll()) expect(await kind.handle(task, 1)).toBe('done');
  expect(JSON.stringify(slack.messages)).toBe(before);
});

it('shows nothing in a later slice before it has read what an earlier slice showed', async () => {
  const { deps, stream, slack, write, posted } = await turnInSlack();
  await write(STEP, delta('Half of it'));
  await posted(0, 'Half of it');
  const shown: string[] = [];
  slack.onCall = async (method, _from, { text }) => {
    if (method === 'chat.update') shown.push(String(text));
  };
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const engine: typeof deps.engine = {
    ...deps.engine,
    async watchLive(input) {
      await gate;
      return deps.engine.watchLive(input);
    },
  };
  const handling = slackKind({ ...deps, engine }).handle(turnTask(stream), 1);
  // The first call of the slice. An edit before the gate opens would be the next one.
  await waitUntil(() => slack.calls.has('assistant.threads.setStatus'), { what: 'the slice' });
  setTimeout(open, 100);
  await waitUntil(() => shown.length > 0, { what: 'an edit' });
  await write(delta(', and the rest'), FINISHED);
  expect(await handling).toBe('done');
  expect(shown.every((one) => one.startsWith('Half of it'))).toBe(true);
  expect(slack.messages.map(({ text }) => text)).toEqual(['Half of it, and the rest']);
});

it('begins no call of Slack that might outlast its lease, and continues at once in another delivery', async () => {
  const { stream, kind, clock, slack, write } = await turnInSlack();
  await write(STEP, delta('word '.repeat(4_000)), FINISHED);
  slack.onCall = (method) => {
    if (method === 'chat.postMessage') clock.aheadMs = 60_000;
  };
  expect(await kind.handle(turnTask(stream), 1)).toEqual({ deferInMs: 0 });
  expect(slack.messages).toHaveLength(1);
  slack.onCall = undefined;
  expect(await kind.handle(turnTask(stream), 1)).toBe('done');
  expect(slack.messages).toHaveLength(2);
});

it('waits as long as Slack says before it posts and before it edits, and shows all of the text once', async () => {
  const { stream, kind, slack, write } = await turnInSlack();
  await write(STEP, delta('Half of it'));
  slack.limitNext(1);
  const first = kind.handle(turnTask(stream), 1);
  await waitUntil(() => slack.messages.length === 1, { what: 'the message' });
  expect(slack.limited).toBe(1);
  slack.limitNext(1);
  await write(delta(', and the rest'), FINISHED);
  expect(await first).toEqual({ deferInMs: 1_000, failure: { code: 'limited' } });
  expect(slack.messages.map(({ text }) => text)).toEqual(['Half of it']);
  expect(await kind.handle(turnTask(stream), 2)).toBe('done');
  expect(slack.messages.map(({ text }) => text)).toEqual(['Half of it, and the rest']);
});

it.each([false, true])(
  'empties the messages that a repeated step no longer needs, also where the turn waits: %s',
  async (waits) => {
    const { deps, stream, slack, write, posted } = await turnInSlack();
    for (const [index, text] of ['one', 'two'].entries()) await posted(index, text);
    const restart: TurnEvent = { type: 'step-restarted', step: 0 };
    await write(
      STEP,
      delta('one and two'),
      restart,
      delta('short'),
      waits ? { type: 'turn-detached' } : FINISHED,
    );
    const turns = { ...deps.turns, isWaiting: async () => waits };
    expect(await slackKind({ ...deps, turns }).handle(turnTask(stream), 1)).toBe('done');
    const [kept, surplus] = slack.messages;
    expect(kept?.text).toBe('short');
    expect(surplus?.text).toContain('written again');
    expect(readable(surplus as SlackMessage)).not.toContain('"button"');
  },
);

it('continues with reminders after an escalation that Slack refuses', async () => {
  const { engine, deps, refused } = await slackParts();
  const owner = newOwner();
  const { row } = await askKind(engine, { ...owner, streamRequestId: 'sr-of-a-test' }, 'form');
  const reminders = {
    channel: 'slack' as const,
    afterSeconds: 0,
    remind: { afterSeconds: 3_600, atMost: 1 },
    escalate: { afterSeconds: 10, to: 'C404' },
  };
  const refusal = { code: 'slack_webapi_platform_error', data: { error: 'channel_not_found' } };
  const client = { chat: { postMessage: () => Promise.reject(refusal) } } as never;
  const send = () =>
    sendReminders(
      { ...deps, client },
      row,
      { place: PLACE, reminders },
      { posted: { channel: 'D1', ts: '1.1' }, isNew: false, now: row.createdAt + 20_000 },
    );
  expect(await send()).toEqual({ deferInMs: 0 });
  expect(refused).toEqual(['channel_not_found']);
  expect(await send()).toEqual({ deferInMs: 3_580_000 });
});

describe('the notice of an approval that was asked elsewhere', () => {
  async function noticed(more: Partial<NotifyRules> = {}) {
    const parts = await slackParts();
    const owner = newOwner();
    await parts.deps.links.add(USER, owner);
    const stream = { ...owner, streamRequestId: 'sr-of-a-test' };
    const notify = { channel: 'slack' as const, afterSeconds: 0, ...more };
    // A notice comes by half of the time at the latest, so that each reminder is before that.
    const { row } = await requestApproval(parts.engine, stream, { notify, timeoutSeconds: 10_000 });
    const kind = slackKind(parts.deps);
    const deliver = () => kind.handle({ kind: 'slack', subject: row.id, bucket: bucketOf(owner) }, 1);
    const { messages } = parts.slack;
    return { ...parts, stream, notify, row, deliver, messages, shown: () => messages.map(readable).join() };
  }

  it.each<[string, string, string]>([
    ['somebody else', 'U2', 'parley_approve'],
    ['their user', 'U1', 'Denied'],
  ])('of an earlier version is followed where its direct messages are of %s', async (_what, user, shown) => {
    const { backend, deps, engine, stream, row, deliver, messages } = await noticed();
    await deliver();
    await backend.ownerRecords.slack.remove(stream, `slack-noticed/${row.id}`);
    await deps.links.removeOf(stream);
    await deps.links.add({ ...USER, userId: user }, stream);
    await decideAs(engine, stream, row.id, { decision: 'deny' });
    expect(await deliver()).toBe('done');
    expect(readable(messages[0] as SlackMessage)).toContain(shown);
  });

  it('is followed by a reminder and an escalation that does not show the call', async () => {
    const escalate = { afterSeconds: 2_000, to: 'C0TEAM' };
    const { deps, notify, row, deliver, messages } = await noticed({
      remind: { afterSeconds: 1_000, atMost: 1 },
      escalate,
    });
    expect(await deliver()).toMatchObject({ deferInMs: expect.closeTo(1_000_000, -5) });
    const posted = { channel: 'D1', ts: messages[0]?.ts ?? '' };
    const client = await deps.clientOf('xoxb-1');
    const send = (afterMs: number) => {
      const plan = { place: PLACE, reminders: notify };
      const now = row.createdAt + afterMs;
      return sendReminders({ ...deps, client }, row, plan, { posted, isNew: false, now });
    };
    expect(await send(1_001_000)).toEqual({ deferInMs: 0 });
    expect(messages[1]).toMatchObject({ channel: 'D1', thread_ts: posted.ts });
    expect(readable(messages[1] as SlackMessage)).toContain('still waits for your approval');
    expect(await send(2_001_000)).toEqual({ deferInMs: 0 });
    expect(messages[2]?.channel).toBe('C0TEAM');
    expect(readable(messages[2] as SlackMessage)).toMatch(
      /has not decided on a call of \*Travel desk\* yet: “bookings_cancel”/,
    );
    expect(readable(messages[2] as SlackMessage)).not.toContain('B-1');
    expect(await send(2_001_000)).toBe('done');
  });

  it('is its own first reminder where the person had seen the call before', async () => {
    const { deps, engine, stream, row, deliver, messages } = await noticed({
      remind: { afterSeconds: 1_000, atMost: 1 },
    });
    await engine.notices.seen(stream, toApprovalWire(row, { now: row.createdAt, content: true }));
    expect(await deliver()).toMatchObject({ deferInMs: expect.closeTo(1_000_000, -5) });
    expect(messages).toEqual([]);
    const later: typeof deps.approvals = {
      ...deps.approvals,
      read: async (id) => ({ row: (await deps.approvals.read(id)).row, now: row.createdAt + 1_001_000 }),
    };
    const task = { kind: 'slack', subject: row.id, bucket: bucketOf(stream) };
    const handle = () => slackKind({ ...deps, approvals: later }).handle(task, 1);
    expect(await handle()).toEqual({ deferInMs: 0 });
    expect(await handle()).toBe('done');
    expect(messages).toHaveLength(1);
  });

  it('is decided on together with the other calls of its step', async () => {
    const { backend, deps, engine, stream, notify, shown } = await noticed();
    await requestApproval(engine, stream, { notify });
    const kind = slackKind(deps);
    for (;;) {
      const taken = await backend.outbox.take(bucketOf(stream), { slack: 10 }, 60_000);
      if (taken.length === 0) break;
      for (const one of taken) {
        expect(await kind.handle(one.task, 1)).toBe('done');
        await backend.outbox.done(one);
      }
    }
    expect(shown()).toContain('parley_approve_all');
  });
});

it('posts once where the clock of another pod is ahead, and keeps no intent of what was posted', async () => {
  const { stream, deps, backend, slack, write } = await turnInSlack();
  await write(STEP, delta('Hello'), FINISHED);
  const other = slackKind({ ...deps, pod: 'pod-2', now: () => Date.now() + 60_000 });
  let inBetween: OutboxResult | undefined;
  slack.onCall = async (method) => {
    if (method !== 'chat.postMessage' || inBetween !== undefined) return;
    inBetween = 'done';
    inBetween = await other.handle(turnTask(stream), 1);
  };
  expect(await slackKind(deps).handle(turnTask(stream), 1)).toBe('done');
  expect(inBetween).toEqual({ deferInMs: 1_000 });
  expect(await other.handle(turnTask(stream), 1)).toBe('done');
  expect(slack.messages).toHaveLength(1);
  expect(await backend.ownerRecords.slack.list(stream, 'slack-intent/')).toEqual([]);
  expect(await backend.ownerRecords.slack.list(stream, 'slack-message/')).toHaveLength(1);
});

it('does not post what another pod posted and recorded between its look and its intent', async () => {
  const { stream, deps, slack, write } = await turnInSlack();
  await write(STEP, delta('Hello'), FINISHED);
  let isFirst = true;
  const late: typeof deps.places = {
    ...deps.places,
    async posted(owner, delivery) {
      const known = await deps.places.posted(owner, delivery);
      if (isFirst) {
        isFirst = false;
        await slackKind(deps).handle(turnTask(stream), 1);
      }
      return known;
    },
  };
  expect(await slackKind({ ...deps, pod: 'pod-2', places: late }).handle(turnTask(stream), 1)).toBe('done');
  expect(slack.messages).toHaveLength(1);
});
