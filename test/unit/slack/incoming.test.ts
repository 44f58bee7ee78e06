import { ParleyError } from '@parley/core/domain/errors';
import { describe, expect, it } from 'vitest';
import { createNames } from '../../../services/api/src/surfaces/slack/listeners/names.ts';
import { readable } from '../../harness/slack/person.ts';
import { newTs } from '../../harness/slack/state.ts';
import { appInEnterprise } from './app.ts';

/** The app with a person to talk to it, and what its agent reads. */
async function listeningApp() {
  const begun: string[] = [];
  const keys = new Map<string, string>();
  const app = await appInEnterprise({
    turns: {
      attend: () => () => undefined,
      isWaiting: async () => false,
      async begin({
        input,
        repeatable,
      }: {
        input: readonly { content: unknown }[];
        repeatable?: { key: string; digest: string };
      }) {
        const { key = '', digest = '' } = repeatable ?? {};
        const isRepeat = keys.has(key);
        if (isRepeat && keys.get(key) !== digest)
          throw new ParleyError('idempotency_mismatch', 'Another request.');
        keys.set(key, digest);
        if (!isRepeat) begun.push(String(input[0]?.content));
        return { isRepeat };
      },
      admitToAgent: () => 'helper',
      stop: async () => false,
    } as never,
    keptMs: 60_000,
  });
  const { slack } = app;
  for (const [id, name] of Object.entries({
    U2: 'Grace',
    U3: '\u202eMallory\n',
    C2: 'plans',
    G1: 'secret',
    S2: 'ops',
  }))
    slack.names.set(id, name);
  const told = () => [...slack.messages, ...slack.ephemerals].map((one) => readable(one)).join('\n');
  return { ...app, begun, told };
}

const FILE = { id: 'F1', name: 'plan.pdf' };
const FORWARD = { is_share: true, author_name: 'Grace', text: 'Ask <@U2> &amp; me.\nSoon.' };

describe('what the agent reads', () => {
  it.each([
    ['Give the keys to <@U2>', 'Give the keys to @Grace'],
    ['<@UBOT> ask <@U2> or <@U9>, not <@U4|ada>, <@UBOT>', 'ask @Grace or @U9, not @ada,'],
    ['<@U3> knows', '@[U+202E]Mallory knows'],
    ['in <#C1|general>, <#C2|>, <#C2>, <#G1> and <#C9>', 'in #general, #plans, #plans, #G1 and #C9'],
    [
      '<!subteam^S1|@team> <!subteam^S2> <!subteam^S9> <!here> <!channel|channel>',
      '@team @ops @S9 @here @channel',
    ],
    [
      '<https://example.com/a?b=1&amp;c=2>, <http://example.com|example.com>',
      'https://example.com/a?b=1&c=2, example.com',
    ],
    [
      '<https://example.com/x|the docs> <mailto:a@example.com|a@example.com> <tel:+491|+491>',
      'the docs (https://example.com/x) a@example.com +491',
    ],
    ['<tel:+4930123|+49 30-123> <tel:+49|Ada>', '+49 30-123 Ada (tel:+49)'],
    ['<!date^1700000000^{date_short}|Nov 14>, <!date^1700000000^{date}^https://a.b|then>', 'Nov 14, then'],
    ['<!date^1700000000^{date}>', '2023-11-14T22:13:20.000Z'],
    ['a &lt; b &amp;&amp; &lt;@U2&gt; `&amp;lt;` *bold* :tada:', 'a < b && <@U2> `&lt;` *bold* :tada:'],
    ['<nothing> <>', 'nothing'],
  ])('%s', async (text, expected) => {
    const { say, begun } = await listeningApp();
    await say(text);
    expect(begun).toEqual([expected]);
  });

  it('asks Slack once for a name, for twenty names of a message at most, and knows a message that comes again', async () => {
    const { say, begun, slack, told } = await listeningApp();
    const ids = Array.from({ length: 30 }, (_, at) => `U1${at}`);
    for (const id of ids) slack.names.set(id, `n${id}`);
    const id = { event_id: 'EvTwice' };
    const text = ids.map((one) => `<@${one}>`).join(' ');
    await say(text, {}, id);
    await say('<@U10> <@U10>');
    expect(slack.calls.get('users.info')).toBe(20);
    expect(begun).toEqual([
      ids.map((one, at) => (at < 20 ? `@n${one}` : `@${one}`)).join(' '),
      '@nU10 @nU10',
    ]);
    // The names that were left out are asked for now.
    await say(
      ids
        .slice(20)
        .map((one) => `<@${one}>`)
        .join(' '),
    );
    await say(text, {}, id);
    expect(begun).toHaveLength(3);
    expect(told()).toBe('');
  });

  it('asks Slack once for all groups', async () => {
    const { say, begun, slack } = await listeningApp();
    await say('<!subteam^S2> <!subteam^S8>');
    await say('<!subteam^S9> <!subteam^S2>');
    expect(begun).toEqual(['@ops @S8', '@S9 @ops']);
    expect(slack.calls.get('usergroups.list')).toBe(1);
  });

  it('waits for no name for long', async () => {
    const names = createNames({ waitMs: 1 });
    const client = { users: { info: () => new Promise(() => undefined) } } as never;
    const nameOf = await names({ client, teamId: 'T1' }, [{ kind: 'person', id: 'U2' }]);
    expect(nameOf({ kind: 'person', id: 'U2' })).toBeUndefined();
  });
});

describe('a message that is not only words', () => {
  it.each([
    [
      'a file beside words',
      { subtype: 'file_share', files: [FILE] },
      'Read this\n\n[Left out, because it cannot be read here: the file “plan.pdf”]',
      'cannot read the file “plan.pdf”',
    ],
    [
      'a file without a name',
      { files: [{ id: 'F1' }] },
      'Read this\n\n[Left out, because it cannot be read here: a file]',
      'cannot read a file',
    ],
    [
      'many files',
      { files: Array.from({ length: 7 }, () => FILE) },
      /“plan\.pdf”, and 2 more files\]$/,
      'and 2 more files',
    ],
    [
      'a file of a forwarded message',
      {
        attachments: [
          { ...FORWARD, files: [FILE] },
          { text: 'x', files: [FILE] },
        ],
      },
      /> Soon\.\n\n\[Left out, because it cannot be read here: the file “plan\.pdf”\]$/,
      'cannot read the file “plan.pdf”',
    ],
    ['a broadcast from a thread', { subtype: 'thread_broadcast' }, 'Read this', ''],
    ['an action', { subtype: 'me_message' }, 'Read this', ''],
    [
      'a forwarded message',
      { attachments: [FORWARD] },
      'Read this\n\nForwarded from Grace:\n> Ask @Grace & me.\n> Soon.',
      '',
    ],
    ['the preview of a link', { attachments: [{ title: 'A page', text: 'x' }] }, 'Read this', ''],
  ])('%s is taken', async (_what, given, read, said) => {
    const { say, begun, told } = await listeningApp();
    await say('Read this', given);
    expect(begun).toEqual([typeof read === 'string' ? read : expect.stringMatching(read)]);
    if (said === '') expect(told()).toBe('');
    else expect(told()).toContain(said);
  });

  it.each([
    ['a mention alone', '<@UBOT>', {}, 'Write what you need'],
    ['a file alone', '', { subtype: 'file_share', files: [FILE] }, 'cannot read the file “plan.pdf”'],
    ['nothing', '', {}, 'Write what you need'],
    ['a comment of a file', 'hello', { subtype: 'file_comment' }, 'cannot read messages of this kind'],
    ['a mention in a canvas', 'hello', { subtype: 'document_mention' }, 'cannot read messages of this kind'],
  ])('%s begins no turn, and is answered', async (_what, text, given, said) => {
    const { say, begun, told } = await listeningApp();
    await say(text, given);
    expect(begun).toEqual([]);
    expect(told()).toContain(said);
  });

  it('in a channel is answered to its person alone', async () => {
    const { event, begun, slack } = await listeningApp();
    const mention = { type: 'app_mention', channel: 'C1', user: 'U1', user_team: 'T1', ts: newTs() };
    await event({ ...mention, text: '<@UBOT>', files: [FILE] });
    expect(slack.messages).toEqual([]);
    expect(slack.ephemerals.map(({ user }) => user)).toEqual(['U1']);
    await event({ ...mention, ts: newTs(), text: '<@UBOT> read', files: [FILE] });
    expect(begun).toHaveLength(1);
    expect(slack.ephemerals).toHaveLength(2);
  });

  it.each([
    'bot_message',
    'message_changed',
    'message_deleted',
    'message_replied',
    'channel_join',
    'pinned_item',
    'reminder_add',
    'assistant_app_thread',
    'a_kind_of_tomorrow',
  ])('of the kind %s is nobody speaking, and is ignored', async (subtype) => {
    const { say, begun, told } = await listeningApp();
    await say('hello', { subtype });
    expect([begun, told()]).toEqual([[], '']);
  });
});
