import { randomUUID } from 'node:crypto';
import { type ClientCapabilities, methods } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type AcpSite,
  type AnswerTo,
  type Editor,
  openAcpSite,
  openApprovals,
  openEditor,
  openQuestions,
} from '../../harness/acp/setup.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { finishPage, openQuestion, PAGE_URL } from '../../harness/protocols/pods.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let site: AcpSite;
beforeAll(async () => {
  site = await openAcpSite();
});
afterAll(() => site?.stop());

interface SeatOptions {
  readonly capabilities?: ClientCapabilities;
  readonly userId?: string;
  readonly at?: AcpSite;
  /** The option that the person chooses where permission is asked for. */
  readonly permit?: string;
}

/** A person with an editor. */
async function sitDown(
  answer?: AnswerTo,
  { capabilities, userId = randomUUID(), at = site, permit }: SeatOptions = {},
) {
  const token = await at.token(userId);
  const editor = await openEditor({ baseUrl: at.url, token }, capabilities, answer, permit);
  onTestFinished(() => editor.close());
  const owner = { tenant: 'acme', userId };
  const sessionId = await editor.newSession();
  return {
    userId,
    owner,
    editor,
    sessionId,
    say: (words: string) => editor.say(sessionId, words),
    text: () => editor.text(sessionId),
    headers: { authorization: `Bearer ${token}` },
  };
}

/** A person who answers by hand. */
function byHand() {
  const answers: ((answer: ReturnType<AnswerTo>) => void)[] = [];
  const ended: AbortSignal[] = [];
  const answer: AnswerTo = (_asked, signal) => {
    ended.push(signal);
    return new Promise((resolve) => answers.push(resolve as never));
  };
  const asked = () => until('the question', () => answers.length === 1);
  return { answer, answers, ended, asked };
}

const kindsOf = ({ updates }: Editor) => updates.map(({ update }) => update.sessionUpdate);
const until = (what: string, condition: () => unknown) => waitUntil(async () => condition(), { what });
const GREEN = { action: 'accept', content: { answer: 'green' } } as const;
const ENDED = { stopReason: 'end_turn' };

describe('a turn', () => {
  it('is text, calls and their results, and ends with its reason [ACP-54 ACP-55]', async () => {
    const { editor, say, text } = await sitDown(() => GREEN);
    expect(await say('colour')).toMatchObject(ENDED);
    expect(text()).toContain('Heard: {"status":"accepted","answer":"green"}');
    expect(kindsOf(editor)).toEqual(expect.arrayContaining(['tool_call', 'tool_call_update']));
    const call = editor.updates.find(({ update }) => update.sessionUpdate === 'tool_call');
    expect(call?.update).toMatchObject({ title: 'elicit' });
  });

  it('refuses content that it did not offer with -32602', async () => {
    const { editor, sessionId } = await sitDown();
    const prompt = [{ type: 'audio' as const, data: '', mimeType: 'audio/wav' }];
    const sent = editor.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    await expect(sent).rejects.toMatchObject({ code: -32602 });
  });

  it('takes images, and says that this agent does not', async () => {
    const { editor, sessionId } = await sitDown();
    const data = Buffer.from('89504e470d0a1a0a00', 'hex').toString('base64');
    const prompt = [{ type: 'image' as const, data, mimeType: 'image/png' }];
    await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    expect(editor.text(sessionId)).toMatch(
      /^An image was left out: this agent takes no images\.\s+Hello: \[An/,
    );
  });

  it('reads links and embedded texts of the prompt [ACP-52]', async () => {
    const { editor, sessionId } = await sitDown();
    await editor.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [
        { type: 'resource_link', name: 'notes', uri: 'file:///notes.md' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
      ],
    });
    expect(editor.text(sessionId)).toContain('file:///notes.md');
    expect(editor.text(sessionId)).toContain('inside');
  });

  it('lasts until calls that wait for an approval were made, and continues after the decision', async () => {
    const { userId, editor, sessionId } = await sitDown();
    const ended = editor.say(sessionId, 'pay');
    let waits = true;
    const end = () => {
      waits = false;
    };
    ended.then(end, end);
    await until('the approval', async () => (await openApprovals(site.engine, userId)).length === 1);
    const [row] = await openApprovals(site.engine, userId);
    // A client of the chat sees the end of the stream here.
    const headers = { authorization: `Bearer ${await site.token(userId)}` };
    const read = await fetch(`${site.url}/run/api/chat/${sessionId}/stream`, { headers });
    expect(await read.text()).toContain('"finishReason":"tool-calls"');
    await until('the notice', () => editor.text(sessionId).includes('Nothing was decided here.'));
    expect(waits).toBe(true);
    const reply = await fetch(`${site.url}/v1/approvals/${row?.id}/response`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    });
    expect(reply.status).toBe(200);
    expect(await ended).toMatchObject(ENDED);
    expect(editor.text(sessionId)).toMatch(
      /^One moment\.\s+\*\*Approval:\*\* The helper wants to call pay of Bank\s+Nothing was decided here\.[\s\S]*Heard: paid/,
    );
  });

  it.each([
    ['approve', 'approved', /Heard: paid/],
    ['deny', 'denied', /Heard: .*denied/],
  ])('asks for permission to make a call: %s decides on it', async (permit, status, heard) => {
    const { userId, editor, sessionId } = await sitDown(undefined, { permit });
    expect(await editor.say(sessionId, 'pay')).toMatchObject(ENDED);
    expect(editor.permissions).toMatchObject([
      { sessionId, toolCall: { title: 'The helper wants to call pay of Bank', rawInput: { amount: 7 } } },
    ]);
    expect(editor.permissions[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once']);
    expect(editor.text(sessionId)).toMatch(heard);
    const all = await site.engine.approvals.list({
      owner: { tenant: 'acme', userId },
      statuses: ['approved', 'denied'],
      limit: 2,
    });
    expect(all.rows.map((row) => row.status)).toEqual([status]);
  });

  it('decides nothing by an option that was not offered', async () => {
    const { userId, editor, sessionId } = await sitDown(undefined, { permit: 'constructor' });
    const ended = editor.say(sessionId, 'pay');
    await until('the notice', () => editor.text(sessionId).includes('Nothing was decided here.'));
    const [open] = await openApprovals(site.engine, userId);
    await site.engine.approvals.decide({
      caller: { kind: 'user', tenant: 'acme', userId },
      id: open?.id ?? '',
      response: { decision: 'deny' },
      surface: 'api',
    });
    expect(await ended).toMatchObject(ENDED);
    expect(editor.text(sessionId)).toMatch(/Heard: .*denied/);
  });

  it('remembers an approval where the configuration allows it: the next call of the conversation is made unasked', async () => {
    const { editor, sessionId } = await sitDown(undefined, { permit: 'remember' });
    await editor.say(sessionId, 'tip');
    await editor.say(sessionId, 'tip');
    expect(editor.permissions).toHaveLength(1);
    expect(editor.permissions[0]?.options.map(({ kind }) => kind)).toEqual([
      'allow_once',
      'allow_always',
      'reject_once',
    ]);
    expect(editor.permissions[0]?.options[1]?.name).toBe(
      'Approve, and do not ask again in this conversation',
    );
    expect(editor.text(sessionId).match(/Heard: paid/g)).toHaveLength(2);
  });

  it('goes on after the answer when its pod has detached it in the meantime', async () => {
    const hasty = await openAcpSite({ holdMs: 20 });
    onTestFinished(() => hasty.stop());
    const { answer, answers, asked } = byHand();
    const { userId, editor, sessionId } = await sitDown(answer, { at: hasty });
    const ended = editor.say(sessionId, 'colour');
    await asked();
    await until('the detachment', async () => {
      const headers = { authorization: `Bearer ${await hasty.token(userId)}` };
      const reply = await fetch(`${hasty.url}/run/api/chat/${sessionId}/stream`, { headers });
      return (await reply.text()).includes('"state":"waiting"');
    });
    answers[0]?.(GREEN);
    expect(await ended).toMatchObject(ENDED);
    expect(editor.text(sessionId)).toMatch(/^One moment\.\n\nHeard: .*green/);
    expect(editor.asked).toHaveLength(1);
  });

  it.each([
    'ends as cancelled after session/cancel, with its question withdrawn and its request taken back [ACP-50]',
    'ends as cancelled by session/close, too [ACP-60]',
  ])('%s', async (name) => {
    const { answer, ended, asked } = byHand();
    const { userId, editor, sessionId } = await sitDown(answer);
    const turn = editor.say(sessionId, 'colour');
    await asked();
    const { cancel, close } = methods.agent.session;
    if (name.includes(cancel)) await editor.agent.notify(cancel, { sessionId });
    else await editor.agent.request(close, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    await until('the request to be taken back', () => ended[0]?.aborted);
    await until('the withdrawal', async () => (await openQuestions(site.engine, userId)).length === 0);
    // The session is free for the next turn.
    expect(await editor.say(sessionId, 'hi')).toMatchObject(ENDED);
  });

  it('has its own version for a client that asks for another one [ACP-51]', async () => {
    const { editor } = await sitDown();
    const params = { protocolVersion: 99, clientCapabilities: {} };
    expect(await editor.agent.request(methods.agent.initialize, params)).toMatchObject({
      protocolVersion: 1,
    });
  });

  it('needs a token that Parley accepts', async () => {
    const editor = await openEditor({ baseUrl: site.url, token: 'nonsense' });
    onTestFinished(() => editor.close());
    await expect(editor.newSession()).rejects.toMatchObject({ code: -32000 });
  });
});

describe('a form', () => {
  it('is asked with its mode, its session and its flat schema, and filled in values arrive checked [ACP-13 ACP-14 ACP-17]', async () => {
    const content = { city: 'Rome', nights: 2, seat: 'w', meals: ['lunch'], bag: true };
    const { editor, sessionId } = await sitDown(() => ({ action: 'accept', content }));
    await editor.say(sessionId, 'trip');
    expect(editor.asked).toHaveLength(1);
    expect(editor.asked[0]).toMatchObject({
      mode: 'form',
      sessionId,
      message: 'Where to?',
      requestedSchema: {
        type: 'object',
        properties: { city: { type: 'string', default: 'Bern' }, nights: { type: 'integer' } },
      },
    });
    expect(editor.text(sessionId)).toContain('"city":"Rome"');
  });

  it('is asked again with what is wrong until its answer fits [ACP-19]', async () => {
    const answers = [{ city: 'X' }, { city: 'Rome', nights: 99 }, { city: 'Rome' }];
    const { editor, sessionId } = await sitDown(() => ({ action: 'accept', content: answers.shift() ?? {} }));
    await editor.say(sessionId, 'trip');
    expect(editor.asked).toHaveLength(3);
    expect(editor.asked[1]?.message).toContain('city');
    expect(editor.asked[2]?.message).toContain('nights');
    expect(editor.text(sessionId)).toContain('"city":"Rome"');
  });

  it.each([
    ['decline', /declined/],
    ['cancel', /dismissed|cancel/],
  ])(
    'that the person ends by %s is never taken for an answer, also with content [ACP-28 ACP-31 ACP-32]',
    async (action, heard) => {
      const { editor, sessionId, say } = await sitDown(() => ({ action, content: { answer: 'green' } }));
      expect(await say('colour')).toMatchObject(ENDED);
      expect(editor.text(sessionId)).toMatch(heard);
      expect(editor.text(sessionId)).not.toContain('green');
    },
  );

  it('with an unknown action or a failing client is described and cancelled, never accepted [ACP-31 ACP-32 ACP-49]', async () => {
    for (const answer of [
      () => ({ action: '_later', content: { answer: 'green' } }),
      () => {
        throw new Error('no window');
      },
    ] satisfies AnswerTo[]) {
      const { editor, sessionId } = await sitDown(answer);
      await editor.say(sessionId, 'colour');
      expect(editor.text(sessionId)).toContain('The question was cancelled.');
      expect(editor.text(sessionId)).not.toContain('green');
    }
  });

  it('that is answered elsewhere ends its request', async () => {
    const { answer, ended, asked } = byHand();
    const { owner, say, text } = await sitDown(answer);
    const turn = say('colour');
    await asked();
    const { id } = await openQuestion(site.engine, owner);
    await answerQuestion(site.engine, owner, id, 'accept', { answer: 'blue' });
    await turn;
    expect(text()).toContain('blue');
    await until('the request to be taken back', () => ended[0]?.aborted);
  });
});

describe('a url question', () => {
  it('is consent first, and completed by a notice with its own id to the client that was asked [ACP-24 ACP-33 ACP-35 ACP-36]', async () => {
    const bystander = await sitDown();
    const { userId, owner, editor, sessionId, say } = await sitDown(() => GREEN);
    const turn = say('page page');
    const isOpened = (one: { readonly status: string }) => one.status === 'opened';
    const opened = await waitUntil(
      async () => {
        const rows = (await openQuestions(site.engine, userId)).filter(isOpened);
        return rows.length === 2 && rows;
      },
      { what: 'the consent' },
    );
    const ids = opened.map(({ id }) => id);
    const asked = editor.asked.map((one) => (one as { elicitationId?: string }).elicitationId);
    expect(asked.toSorted()).toEqual(ids.toSorted());
    expect(editor.asked[0]).toMatchObject({ mode: 'url', url: PAGE_URL, sessionId });
    expect(editor.completed).toEqual([]);
    for (const id of ids) await finishPage(site.engine, owner, id);
    expect(await turn).toMatchObject(ENDED);
    await until('the notices', () => editor.completed.length === 2);
    expect(editor.completed.toSorted()).toEqual(ids.toSorted());
    expect(bystander.editor.completed).toEqual([]);
    expect(bystander.editor.asked).toEqual([]);
  });

  it('is finished by the consent where the agent gave the address', async () => {
    const { editor, sessionId } = await sitDown(() => ({ action: 'accept' }));
    await editor.say(sessionId, 'link');
    expect(editor.text(sessionId)).toContain('accepted');
  });
});

describe('modes', () => {
  const cases: readonly [string, ClientCapabilities, readonly string[]][] = [
    ['no elicitation', {}, []],
    ['null', { elicitation: null }, []],
    ['an empty object', { elicitation: {} }, []],
    ['null keys', { elicitation: { form: null, url: null } }, []],
    ['form', { elicitation: { form: {} } }, ['form']],
    ['url', { elicitation: { url: {} } }, ['url']],
  ];
  it.each(cases)(
    'of a client that declared %s: only what it declared is asked, the rest is told in the text [ACP-08 ACP-09 ACP-10 ACP-11 ACP-12]',
    async (_name, capabilities, modes) => {
      const answer: AnswerTo = ({ mode }) => (mode === 'form' ? GREEN : { action: 'decline' });
      const { editor, sessionId } = await sitDown(answer, { capabilities });
      expect(await editor.say(sessionId, 'guess page')).toMatchObject(ENDED);
      expect(editor.asked.map(({ mode }) => mode)).toEqual(modes);
      const said = editor.text(sessionId);
      if (modes.includes('form')) expect(said).toContain('green');
      else {
        expect(said).toContain('**Colour:** Which colour?');
        expect(said).toContain('"default":"grey"');
        expect(said).toContain('so you were not asked. The agent continues with its own default.');
      }
    },
  );

  it('without a default: the question is in the text, and the agent is told that nobody was asked [ACP-12]', async () => {
    const { editor, sessionId } = await sitDown(undefined, { capabilities: {} });
    await editor.say(sessionId, 'colour');
    expect(editor.text(sessionId)).toContain('**Question:** Which colour?');
    expect(editor.text(sessionId)).toContain('cannot show questions');
  });

  it('never take a sensitive answer by form: it is answered on the hosted page [ACP-22]', async () => {
    const paged = await openAcpSite({ hasAnswerPage: true });
    onTestFinished(() => paged.stop());
    const { owner, editor, say } = await sitDown(() => ({ action: 'accept' }), { at: paged });
    const ended = say('private');
    const { id } = await openQuestion(paged.engine, owner, 'opened');
    expect(editor.asked).toMatchObject([{ mode: 'url' }]);
    await answerQuestion(paged.engine, owner, id, 'accept', { answer: 'hush' });
    await ended;
    await until('the notice', () => editor.completed.length === 1);
    expect(JSON.stringify(editor.wire)).not.toContain('hush');
  });

  it('never take a sensitive answer by form: without the hosted page nobody is asked [ACP-21 ACP-23]', async () => {
    const { editor, sessionId } = await sitDown(() => ({ action: 'accept', content: { answer: 'hush' } }));
    await editor.say(sessionId, 'private');
    expect(editor.asked).toEqual([]);
  });
});

describe('session/load', () => {
  it('replays the messages and asks again what is open; the old connection asks no more [ACP-15 ACP-16 ACP-58]', async () => {
    const first = byHand();
    const { userId, editor, sessionId } = await sitDown(first.answer);
    await editor.say(sessionId, 'hi');
    const lost = editor.say(sessionId, 'colour').catch(() => undefined);
    await first.asked();
    editor.close();
    await lost;

    const stranger = await sitDown();
    const load = { sessionId, cwd: '/tmp', mcpServers: [] };
    await expect(stranger.editor.agent.request(methods.agent.session.load, load)).rejects.toMatchObject({
      code: -32002,
    });

    for (const unknown of [sessionId, 'acp_unknown'])
      await expect(stranger.editor.say(unknown, 'hi')).rejects.toMatchObject({ code: -32002 });

    const second = byHand();
    const again = await sitDown(second.answer, { userId });
    await again.editor.agent.request(methods.agent.session.load, load);
    expect(again.editor.text(sessionId)).toContain('Hello: hi');
    expect(kindsOf(again.editor).filter((kind) => kind === 'user_message_chunk')).toHaveLength(2);
    await second.asked();
    // The very same question: its id, its deadline and its form.
    expect(again.editor.asked).toEqual([editor.asked[0]]);
    expect(again.editor.asked[0]).toMatchObject({ sessionId, message: 'Which colour?' });
    expect(await openQuestions(site.engine, userId)).toHaveLength(1);
    second.answers[0]?.(GREEN);
    await until('the reply', () => again.editor.text(sessionId).includes('green'));
    expect(await again.editor.say(sessionId, 'bye')).toMatchObject(ENDED);
    expect(stranger.editor.asked).toEqual([]);
  });

  it('with other modes describes what is open, and leaves it open [ACP-11 ACP-58]', async () => {
    const first = byHand();
    const { userId, editor, sessionId } = await sitDown(first.answer);
    const lost = editor.say(sessionId, 'colour').catch(() => undefined);
    await first.asked();
    editor.close();
    await lost;
    const { editor: plain } = await sitDown(undefined, { capabilities: {}, userId });
    await plain.agent.request(methods.agent.session.resume, { sessionId, cwd: '/tmp', mcpServers: [] });
    await until('the description', () => plain.text(sessionId).includes('While it is open'));
    expect(plain.asked).toEqual([]);
    expect(kindsOf(plain)).not.toContain('user_message_chunk');
    expect(await openQuestions(site.engine, userId)).toHaveLength(1);
  });

  it('session/list has the conversations of the token alone [ACP-59]', async () => {
    const { userId, editor, sessionId } = await sitDown();
    await editor.say(sessionId, 'hi there');
    const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd: '/tmp' });
    expect(sessions).toMatchObject([{ sessionId, title: 'hi there', cwd: '/tmp' }]);
    const { editor: other } = await sitDown();
    expect((await other.agent.request(methods.agent.session.list, {})).sessions).toEqual([]);
    const forged = other.agent.request(methods.agent.session.list, { cursor: 'forged' });
    await expect(forged).rejects.toMatchObject({ code: -32602 });
    expect(userId).not.toBe('');
  });
});
