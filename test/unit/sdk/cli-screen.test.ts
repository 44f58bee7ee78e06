/** The prompts of a terminal by what is read and what is written, without a pseudo-terminal. */
import { createServer } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readCliEnv } from '../../../clients/cli/src/env.ts';
import { EXIT } from '../../../clients/cli/src/exit-code.ts';
import { runProgram } from '../../../clients/cli/src/program.ts';
import { askFields } from '../../../clients/cli/src/terminal/fields.ts';
import { createScreen } from '../../../clients/cli/src/terminal/handler.ts';
import { showQuestion } from '../../../clients/cli/src/terminal/question.ts';
import { LEFT, type TerminalStreams } from '../../../clients/cli/src/terminal/screen.ts';
import { isLeaving } from '../../../clients/cli/src/terminal/show-prompt.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { paced } from '../../harness/pace.ts';

const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
const SHOW_CURSOR = '\u001b[?25h';
const ENCLOSE_PASTES = '\u001b[?2004h';
const LEAVE_PASTES = '\u001b[?2004l';

/** Prompts on streams that a test reads and writes. */
function terminal({ plain = false, env = {} }: { plain?: boolean; env?: Record<string, string> } = {}) {
  let shown = '';
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        shown += String(chunk);
        done();
      },
    }),
    { isTTY: true, columns: 80, rows: 24 },
  );
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const streams = { input, output } as unknown as TerminalStreams;
  return {
    streams,
    screen: createScreen(streams, plain, readCliEnv(env)),
    signal: leaving.signal,
    shown: () => shown,
    /** Each part is a read of its own. */
    async reads(...parts: readonly string[]) {
      for (const part of parts) {
        input.write(part);
        await new Promise(setImmediate);
      }
    },
  };
}

const text = (more: object = {}) => ({ label: 'What?', validate: () => undefined, ...more });
const choice = { label: 'Which?', options: ['a', 'b'].map((value) => ({ value, label: value })) };
const lines = text({ takesLines: true });

it('a paste is taken whole wherever a read ends within it', async () => {
  const paste = `${PASTE_BEGINS}one\rtwo${PASTE_ENDS}`;
  for (let at = 1; at < paste.length; at += 1) {
    const { screen, signal, reads } = terminal();
    const answer = screen.text(lines, signal);
    await reads(paste.slice(0, at), paste.slice(at), '\r');
    expect(await answer, `a read of ${at} characters`).toBe('one\ntwo');
  }
});

it('Ctrl+C in a paste that never ends leaves a prompt', async () => {
  const { screen, signal, reads } = terminal();
  const answer = screen.text(lines, signal);
  await reads(`${PASTE_BEGINS}half`, '\u0003');
  expect(await answer).toBe(LEFT);
});

it.each([
  ['\rRobbie\rOslo\r', 'a', 'Robbie'],
  ['j\rRobbie\rOslo\r', 'b', 'Robbie'],
])('what is typed ahead of a choice waits for the prompts behind it: %j', async (typed, first, second) => {
  const { screen, signal, reads } = terminal();
  const chosen = screen.select(choice, signal);
  await reads(typed);
  expect(await chosen).toBe(first);
  expect(await screen.text(text(), signal)).toBe(second);
  expect(await screen.text(text(), signal)).toBe('Oslo');
});

it('a text takes lines that come at once as one paste', async () => {
  const { screen, signal, reads } = terminal();
  const answer = screen.text(lines, signal);
  await reads('one\rtwo\r', '\r');
  expect(await answer).toBe('one\ntwo');
});

it('a process that ends in the middle of a prompt gives the terminal back', async () => {
  const before = process.listeners('exit');
  const { screen, signal, shown, reads } = terminal();
  const answer = screen.text(text(), signal);
  const [atExit] = process.listeners('exit').filter((one) => !before.includes(one));
  const drawn = shown().length;
  atExit?.(1);
  expect(shown().slice(drawn)).toContain(SHOW_CURSOR);
  expect(shown().slice(drawn)).toContain(LEAVE_PASTES);
  await reads('x', '\r');
  expect(await answer).toBe('x');
  await vi.waitFor(() => expect(process.listeners('exit')).toEqual(before), paced(10_000));
});

it.each([true, false])(
  'says that a secret is not shown once the terminal shows no key, plain: %s',
  (plain) => {
    const { screen, signal, shown } = terminal({ plain });
    void screen.hidden(text({ description: 'It is not shown.' }), signal);
    expect(shown()).toContain('It is not shown.');
    // This sequence is written with the change of the mode.
    expect(shown().split('What?')[0]).toContain(ENCLOSE_PASTES);
  },
);

it('plain lines name a preset without its control characters', () => {
  const { screen, signal, shown } = terminal({ plain: true });
  void screen.text(text({ initial: '\u001b]0;owned\u0007\u001b[2J' }), signal);
  expect(shown()).toContain('empty for');
  for (const part of ['\u001b]0', '\u001b[2J', '\u0007']) expect(shown()).not.toContain(part);
});

it('a terminal without any control of its cursor gets plain lines', () => {
  expect(terminal({ env: { TERM: 'dumb' } }).screen.isLive).toBe(false);
});

it.each([
  ['removes the text', 'rm', undefined],
  ['is not there', 'no-such-editor', undefined],
  ['has no folder for it', 'true', '/no/such/folder'],
])('an editor that %s leaves the text as it was, and a fault', async (_name, EDITOR, folder) => {
  if (folder !== undefined) vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { screen, signal, shown, reads } = terminal({ env: { EDITOR } });
  const answer = screen.text(text({ takesLines: true, initial: 'kept' }), signal);
  await reads('\u0007');
  await vi.waitFor(() => expect(shown()).toContain('The editor saved nothing'), paced(10_000));
  await reads('\r');
  expect(await answer).toBe('kept');
});

it.each([
  [{ name: 'escape' }, false],
  [{ name: 'escape', meta: true }, false],
  [{ name: 'c', ctrl: true }, true],
  [{ name: 'd', ctrl: true }, true],
])('the key %j leaves a prompt: %s', (key, leaves) => {
  expect(isLeaving({ ctrl: false, meta: false, shift: false, ...key })).toBe(leaves);
});

it('a question can be left open for later', async () => {
  const { screen, signal, shown, reads } = terminal();
  const options = {
    signal,
    countdown: () => '',
    offersDecline: true,
    offersLater: true,
    open: () => undefined,
  };
  const answer = showQuestion(
    screen,
    { message: 'Which?', form: { type: 'object', properties: {} } },
    options,
  );
  await vi.waitFor(() => expect(shown()).toContain('What would you like to do?'), paced(10_000));
  await reads('\u001b[B', '\u001b[B', '\r');
  expect(await answer).toEqual({ action: 'later' });
});

it('a required text cannot be left empty, and its time is counted down', async () => {
  const { screen, signal, shown, reads } = terminal();
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
  } satisfies FormSchema;
  let left = '2:00';
  const answer = askFields(screen, { schema, faults: [], countdown: () => ` (${left} left)`, signal });
  expect(shown()).toContain('(2:00 left)');
  left = '1:59';
  screen.redraw();
  expect(shown()).toContain('(1:59 left)');
  await reads('\r', 'x', '\r');
  expect(shown()).toContain('is required');
  expect(await answer).toEqual({ a: 'x' });
});

it('a paste that no answer could hold is refused', async () => {
  const { screen, signal, shown, reads } = terminal();
  const answer = screen.text(lines, signal);
  await reads(`${PASTE_BEGINS}${'会'.repeat(200_000)}${PASTE_ENDS}`);
  expect(shown()).toContain('This is too long for an answer');
  await reads('x', '\r');
  expect(await answer).toBe('x');
});

it.each([
  ['Later, which is preset', ['\r'], 'pending', [], EXIT.open],
  ['Approve', ['\u001b[A', '\u001b[A', '\r'], 'approved', [{ decision: 'approve' }], EXIT.accepted],
  ['Deny', ['\u001b[A', '\r', 'no', '\r'], 'denied', [{ decision: 'deny', reason: 'no' }], EXIT.declined],
])('a call is decided in the terminal: %s', async (_name, keys, status, decisions, code) => {
  const sent: unknown[] = [];
  const tool = { server: 'b', serverTitle: 'Bank', name: 'pay' };
  const times = { expiresAt: '2030-01-01T00:10:00Z', serverTime: '2030-01-01T00:00:00Z' };
  const approval = {
    approvalId: 'ap_1',
    agent: 'Desk',
    tool,
    risk: 'high',
    arguments: { amount: 7 },
    ...times,
  };
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (body !== '') sent.push(JSON.parse(body));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...approval, status: body === '' ? 'pending' : status }));
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => void server.close());
  const { streams, signal, shown, reads } = terminal();
  const setExitCode = vi.fn();
  const running = runProgram(['answer', 'ap_1'], {
    env: readCliEnv({ PARLEY_URL: `http://127.0.0.1:${port}`, PARLEY_TOKEN: 't' }),
    stdin: streams.input,
    stdout: streams.output,
    stderr: new PassThrough(),
    signal,
    calledAs: 'parley',
    calledAnywhere: 'parley',
    setExitCode,
  });
  await vi.waitFor(() => expect(shown()).toContain('May this call be made?'), paced(10_000));
  expect(shown()).toContain('Desk wants to call pay of Bank (high risk)');
  expect(shown()).toContain('"amount": 7');
  await reads(...keys);
  await running;
  expect([sent, setExitCode.mock.calls]).toEqual([decisions, [[code]]]);
});

it('the inbox ends with the failure of what keeps it up to date', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(requests === 1 ? 200 : 401, { 'content-type': 'text/event-stream' });
    const snapshot = 'event: inbox-snapshot\ndata: {"elicitations":[]}\n\n';
    response.end(requests === 1 ? `retry: 1\n\n${snapshot}` : '');
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => void server.close());
  const { streams, signal, shown } = terminal();
  const setExitCode = vi.fn();
  await runProgram(['inbox'], {
    env: readCliEnv({ PARLEY_URL: `http://127.0.0.1:${port}`, PARLEY_TOKEN: 't' }),
    stdin: streams.input,
    stdout: streams.output,
    stderr: new PassThrough(),
    signal,
    calledAs: 'parley',
    calledAnywhere: 'parley',
    setExitCode,
  });
  expect(shown()).toContain('Nothing waits for you');
  expect(setExitCode.mock.calls).toEqual([[EXIT.refused]]);
});
