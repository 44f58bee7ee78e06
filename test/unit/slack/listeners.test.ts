import { ParleyError } from '@parley/core/domain/errors';
import { mintRecordId } from '@parley/core/domain/ids';
import { expect, it } from 'vitest';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { askKind, newOwner, newStream } from '../../harness/engines/questions.ts';
import { readable } from '../../harness/slack/person.ts';
import { newTs } from '../../harness/slack/state.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { appInEnterprise, turnsThatBegin, USER } from './app.ts';

it.each([
  ['begins one turn', 'U1', '<@UBOT> hello', 1, 0],
  ['asks once for an account', 'U2', '<@UBOT> hello', 0, 1],
  ['refuses once what is too long', 'U1', `<@UBOT> ${'x'.repeat(10_001)}`, 0, 1],
])(
  '%s for a message that Slack reports in two ways, to two pods',
  async (_what, user, text, turns, replies) => {
    const begun: unknown[] = [];
    const given = { turns: turnsThatBegin((input) => begun.push(input)) };
    const { app, otherPod, event, slack } = await appInEnterprise(given);
    const message = { channel: 'D1', channel_type: 'im', user, user_team: 'T1', text, ts: newTs() };
    const report = (type: string, pod: typeof app, id: string) =>
      event({ ...message, type }, { event_id: id }, pod);
    await Promise.all([report('message', app, 'Ev1'), report('app_mention', otherPod, 'Ev2')]);
    expect([begun.length, slack.messages.length]).toEqual([turns, replies]);
    // What Slack sends again finds the turn by the id of its event, which only the report that was taken gets to.
    for (const [type, id] of [
      ['message', 'Ev1'],
      ['app_mention', 'Ev2'],
    ] as const)
      await report(type, otherPod, id);
    expect([begun.length, slack.messages.length]).toEqual([2 * turns, 2 * replies]);
  },
);

it('leaves no rejection without a handler when a message is refused before its budget is known', async () => {
  const { say } = await appInEnterprise({
    isDraining: () => true,
    limits: { call: () => Promise.reject(new ParleyError('rate_limited', 'Too many.')) } as never,
  });
  await expect(say('hello')).rejects.toThrow('pod is stopping');
});

it.each([
  ['is refused is followed for a moment only', new ParleyError('turn_running', 'One runs.'), [60_000]],
  ['begins a turn is followed as long as that may last', undefined, [60_000, 660_000]],
])('a message that %s', async (_what, refusal, expected) => {
  const followed: number[] = [];
  const { say } = await appInEnterprise({
    follow: async (_stream, _place, keptMs) => void followed.push(keptMs),
    keptMs: 660_000,
    turns: {
      attend: () => () => undefined,
      isWaiting: async () => false,
      begin: async () => {
        if (refusal !== undefined) throw refusal;
        return { isRepeat: false } as never;
      },
      admitToAgent: () => 'helper' as never,
      stop: async () => false,
    },
  });
  await say('hello');
  expect(followed).toEqual(expected);
});

it('says that a message is too long, and takes no part of it', async () => {
  const { say, slack } = await appInEnterprise();
  await say('x'.repeat(10_001));
  expect(slack.messages.map(readable).join()).toContain('more than 10000 characters');
});

it.each(['open', 'edit', 'deny'])(
  'tells a person whose form Slack refused on "%s" where to answer instead',
  async (name) => {
    const faults: unknown[] = [];
    const answerPageOf = (id: string) => `https://parley.example/auth/answer/${id}`;
    const { app, owner, engine, slack } = await appInEnterprise({
      answerPageOf,
      onFault: (fault) => void faults.push(fault),
    });
    const isQuestion = name === 'open';
    const { row } = isQuestion
      ? await askKind(engine, newStream(owner), 'form')
      : await requestApproval(engine, newStream(owner));
    // Slack knows no such trigger, and refuses it as it refuses a block that it does not take.
    await app.process({
      type: 'block_actions',
      user: { id: 'U1', team_id: 'T1' },
      team: { id: 'T1', enterprise_id: 'E1' },
      enterprise: { id: 'E1' },
      is_enterprise_install: true,
      trigger_id: 'none',
      response_url: slack.responseUrl('one'),
      channel: { id: 'C1' },
      container: { type: 'message', channel_id: 'C1' },
      actions: [
        { type: 'button', block_id: 'b', action_id: `parley_${name}`, action_ts: newTs(), value: row.id },
      ],
    });
    // Such a press is acknowledged before it is handled.
    await waitUntil(() => slack.responses.length > 0, { what: 'the message to the person' });
    const [told, ...more] = slack.responses.map(({ body }) => body);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ response_type: 'ephemeral', replace_original: false });
    expect(JSON.stringify(told)).toContain(isQuestion ? answerPageOf(row.id) : 'another application');
    expect(faults).toEqual([expect.objectContaining({ code: 'slack_webapi_platform_error' })]);
  },
);

it('records that a person has opened the address of a question in a direct message', async () => {
  const { app, owner, engine } = await appInEnterprise();
  const asked = await askKind(engine, newStream(owner), 'url, client completion');
  const press = (user: string) =>
    app.process({
      type: 'block_actions',
      user: { id: user, team_id: 'T1' },
      team: { id: 'T1', enterprise_id: 'E1' },
      enterprise: { id: 'E1' },
      is_enterprise_install: true,
      trigger_id: 'one',
      response_url: 'http://127.0.0.1:9/none',
      channel: { id: 'D1' },
      container: { type: 'message', channel_id: 'D1' },
      actions: [
        { type: 'button', block_id: 'b', action_id: 'parley_link', action_ts: newTs(), value: asked.row.id },
      ],
    });
  const status = async () => (await engine.read({ kind: 'user', ...owner }, asked.row.id)).row.status;
  await press('U2');
  expect(await status()).toBe('pending');
  await press('U1');
  expect(await status()).toBe('accepted');
  await press('U1');
  expect(await status()).toBe('accepted');
});

/** Two pending calls of the person, and the buttons of the message that names them. */
async function twoCalls(...gone: string[]) {
  const parts = await appInEnterprise();
  const { app, owner, engine, slack } = parts;
  const calls = await Promise.all([1, 2].map(() => requestApproval(engine, newStream(owner))));
  const ids = calls.map(({ row }) => row.id);
  return {
    ...parts,
    press: (action: string, message: object, user = 'U1') =>
      app.process({
        type: 'block_actions',
        user: { id: user, team_id: 'T1' },
        team: { id: 'T1', enterprise_id: 'E1' },
        enterprise: { id: 'E1' },
        is_enterprise_install: true,
        trigger_id: slack.newTrigger(user),
        response_url: slack.responseUrl('all'),
        channel: { id: 'D1' },
        container: { type: 'message', channel_id: 'D1' },
        message,
        actions: [
          {
            type: 'button',
            block_id: 'b',
            action_id: action,
            action_ts: '1700000010.000000',
            value: [...gone, ...ids].join(' '),
          },
        ],
      }),
    statuses: async () =>
      (await Promise.all(ids.map((id) => engine.approvals.read({ kind: 'user', ...owner }, id)))).map(
        ({ row }) => row.status,
      ),
  };
}

it('approves all calls of a message only once it has shown these calls for a second', async () => {
  const { press, statuses, slack } = await twoCalls();
  for (const message of [
    { ts: '1700000009.979000' },
    // Slack cuts the time of an edit to whole seconds: this one may have been at 9.98.
    { ts: '1700000001.000000', edited: { user: 'UBOT', ts: '1700000009.000000' } },
  ]) {
    await press('parley_approve_all', message);
    expect(await statuses()).toEqual(['pending', 'pending']);
  }
  expect(JSON.stringify(slack.responses)).toContain('have just changed');
  await press('parley_approve_all', {
    ts: '1700000001.000000',
    edited: { user: 'UBOT', ts: '1700000008.000000' },
  });
  expect(await statuses()).toEqual(['approved', 'approved']);
});

it('shows, denies and approves the other calls of a message where one is not kept any more, to its person alone', async () => {
  const { press, statuses, slack, deps } = await twoCalls(mintRecordId('ap', newOwner()));
  await deps.links.add({ ...USER, userId: 'U2' }, newOwner());
  const message = { ts: '1700000001.000000' };
  // Presses that open something are acknowledged before.
  const said = (text: string) =>
    waitUntil(() => JSON.stringify([slack.responses.at(-1), slack.views]).includes(text), { what: text });
  await press('parley_calls', message, 'U2');
  await said('Only the person who was asked');
  await press('parley_calls', message);
  await said('2 calls of one step');
  await press('parley_deny_all', message);
  await said('These 2 calls will not be made');
  await press('parley_approve_all', message);
  expect(await statuses()).toEqual(['approved', 'approved']);
});

it('takes no message of an app for one of the person whom it names', async () => {
  const { event, slack } = await appInEnterprise();
  const mention = { type: 'app_mention', channel: 'C1', user: 'U7', user_team: 'T1', text: '<@UBOT> hello' };
  const direct = { ...mention, type: 'message', channel: 'D1', channel_type: 'im' };
  for (const one of [mention, direct]) {
    await event({ ...one, bot_id: 'B9', ts: newTs() });
    await event({ ...one, subtype: 'bot_message', ts: newTs() });
  }
  expect(slack.ephemerals).toEqual([]);
  await event({ ...mention, ts: newTs() });
  expect(slack.ephemerals.map(({ user }) => user)).toEqual(['U7']);
});

it('takes nobody of another company for a person of the enterprise', async () => {
  const { event, slack } = await appInEnterprise();
  const mention = (user: string, team: string, isShared?: boolean) =>
    event(
      { type: 'app_mention', channel: 'C1', user, user_team: team, text: '<@UBOT> hello', ts: newTs() },
      isShared === undefined ? {} : { is_ext_shared_channel: isShared },
    );
  await mention('U8', 'T9', true);
  await mention('U8', 'T9');
  expect(slack.ephemerals).toEqual([]);
  await mention('U7', 'T2', false);
  await mention('U6', 'T1', true);
  expect(slack.ephemerals.map(({ user }) => user)).toEqual(['U7', 'U6']);
});
