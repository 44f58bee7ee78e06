import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createElicitor, createParleyHandler } from '@parley/sdk/elicit';
import {
  createParleyRecord,
  runWorkflow,
  WorkflowChangedError,
  type WorkflowRequest,
} from '@parley/sdk/workflow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { caseOf, KINDS } from '../../harness/cli/kinds.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { paced } from '../../harness/pace.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import {
  newUser,
  QUICK,
  SERVICE_KEY,
  serviceAt,
  tokenOf,
  userAt,
  type World,
} from '../../harness/sdk/setup.ts';
import { hasTmux, openTerminal, type TerminalOptions } from '../../harness/tmux.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { keyringSuite } from './keyring.ts';
import { expectedOfTwenty, twenty } from './twenty.ts';
import { pressAll, typeAnswer } from './typing.ts';

const run = promisify(execFile);
const CLI = 'clients/cli/src/main.ts';
const CANARY = 'c4nary-Zq8rT1';
const KILLED_AT_ONCE = 6;
/** Longer than a test may take. The time that is left is shown in minutes and seconds for the last ten minutes only. */
const PATIENT_S = 590;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function inTerminal(command: readonly string[], options: TerminalOptions) {
  const terminal = await openTerminal(command, options);
  onTestFinished(terminal.close);
  return terminal;
}

/** The command in a pseudo-terminal, against the pods. */
export function cliSuite(world: () => World): void {
  const url = () => world().balancer.url;
  if (hasTmux) {
    terminalSuite(url);
    keyringSuite();
  } else suiteNotRun('the terminal', 'there is no tmux');
  askingSuite(url);
  workflowSuite(url);
}

function askingSuite(url: () => string): void {
  it('a command that does not wait ends while its question is open', async () => {
    const env = { PATH: process.env.PATH, PARLEY_URL: url(), PARLEY_TOKEN: SERVICE_KEY };
    const asking = [
      await bundleEntry(CLI),
      'ask',
      'Later?',
      '--user',
      newUser(),
      '--timeout',
      `${PATIENT_S}`,
    ];
    const { stdout } = await run(process.execPath, [...asking, '--no-wait'], { env, timeout: paced(60_000) });
    const { status } = await serviceAt(url()).get(stdout.trim());
    expect(status).toBe('pending');
  });
}

function terminalSuite(url: () => string): void {
  async function runParley(userId: string, args: readonly string[], size: TerminalOptions = {}) {
    const env = { PARLEY_URL: url(), PARLEY_TOKEN: await tokenOf(userId), PARLEY_HOME: await newFolder() };
    return inTerminal([process.execPath, await bundleEntry(CLI), ...args], { env, ...size });
  }

  describe('a terminal', () => {
    it('answers every kind, a wrong input first, and shows no secret', async () => {
      const folder = await newFolder();
      const file = join(folder, 'result.json');
      const program = await bundleEntry('test/integration/cli/terminal-program.ts');
      const terminal = await inTerminal([process.execPath, program, file], { env: { HOME: folder } });
      for (const withWrong of [true, false]) {
        for (const [at, one] of KINDS.entries()) {
          await terminal.untilShown(lastQuestion(withWrong ? one.ask.message : `Once more ${at}.`));
          await typeAnswer(terminal, one, { withWrong });
        }
      }
      await terminal.untilShown(/password of the tracker[\s\S]*not shown/);
      await terminal.type(CANARY);
      await terminal.press('Enter');
      const screen = await terminal.untilEnded();
      expect(screen).not.toContain(CANARY);
      expect(screen).toContain('"value":"[secret]"');
      const result = JSON.parse(await readFile(file, 'utf8'));
      const plain = JSON.parse(JSON.stringify(expectedOfTwenty()));
      expect(result).toEqual({ answers: plain, effects: 4, secretLength: CANARY.length });
      expect(await readdir(folder)).toEqual(['result.json']);
    });

    it('answers every kind of a question of Parley, one after the other', async () => {
      const userId = newUser();
      const handler = createParleyHandler({ client: serviceAt(url()), userId });
      const elicitor = createElicitor({ handlers: [handler], timeoutSeconds: PATIENT_S });
      const terminal = await runParley(userId, ['inbox']);
      await terminal.untilShown(/Nothing waits for you/);
      for (const one of KINDS) {
        const asking = elicitor.ask(one.ask);
        await terminal.untilShown(new RegExp(String.raw`1 open\.[\s\S]*${literal(one.ask.message)}`));
        await pressAll(terminal, [{ press: 'Enter' }]);
        if (one.ask.kind === 'url') {
          // The whole address, and the host by itself.
          await terminal.untilShown(/https:\/\/terms\.example\/of\/use[\s\S]*Open terms\.example\?/);
        } else {
          await terminal.untilShown(
            new RegExp(
              String.raw`${literal(one.ask.message)}[\s\S]*What would you like to do\?[\s\S]*left\)`,
            ),
          );
          await pressAll(terminal, [{ press: 'Enter' }]);
        }
        await typeAnswer(terminal, one, { withWrong: false });
        expect(await asking).toEqual({ status: 'accepted', value: one.value, handler: 'parley' });
      }
    });

    it('cancels with Ctrl+C, takes a question away that was answered elsewhere, and redraws at another size', async () => {
      const userId = newUser();
      const service = serviceAt(url());
      const person = userAt(url(), userId);
      const question = { userId, mode: 'form', message: 'Which one?', timeoutSeconds: PATIENT_S } as const;
      const form = {
        type: 'object',
        properties: { a: { type: 'string', title: 'Letter' } },
        required: ['a'],
      } as const;
      const first = await service.start({ ...question, requestedSchema: form });
      const terminal = await runParley(userId, ['inbox']);
      await terminal.untilShown(/1 open\. Which one[\s\S]*Which one\? \(\d+:\d\d left\)/);
      const second = await service.start({ ...question, message: 'And this?', requestedSchema: form });
      await terminal.untilShown(/2 open\./);
      await terminal.resize(60, 30);
      // The time that is left counts on in the question that is chosen.
      const listed = async () => secondsLeft(await terminal.screen(), 'Which one? (');
      const atFirst = await waitUntil(listed, { what: 'the list at its new size' });
      await waitUntil(async () => (await listed()) <= atFirst - 2, { what: 'two seconds less' });
      await pressAll(terminal, [{ press: 'Enter' }]);
      const chosen = await terminal.untilShown(/What would you like to do\? \(\d+:\d\d left\)/);
      expect(secondsLeft(chosen, 'like to do?')).toBeLessThanOrEqual(atFirst - 2);
      await person.answer(first.elicitation.elicitationId, { action: 'accept', content: { a: 'x' } });
      await terminal.untilShown(/This question has ended: accepted/);
      await terminal.untilShown(/1 open\.[\s\S]*And this\?/);
      await pressAll(terminal, [{ press: 'Enter' }]);
      await terminal.untilShown(/And this\?[\s\S]*What would you like to do\?/);
      await terminal.press('C-c');
      expect(await second.outcome).toMatchObject({ status: 'cancelled' });
      await terminal.untilShown(/Nothing waits for you/);
      await service.start({ ...question, message: 'One more?', requestedSchema: form });
      await terminal.untilShown(/1 open\.[\s\S]*One more\?/);
      await terminal.press('C-c');
      const screen = await terminal.untilEnded();
      expect(screen).toMatch(/^ended 0$/m);
      expect(screen.match(/Nothing waits for you/g)).toHaveLength(1);
    });

    it('keeps one list on a small screen, whatever comes and whatever its size', async () => {
      const userId = newUser();
      const question = { userId, mode: 'form', requestedSchema: YES, timeoutSeconds: PATIENT_S } as const;
      const ask = (at: number) => {
        const narrow = 'the house by the river, the garden behind it and the old road to the harbour';
        const wide = '会議の時間を変更してもよろしいですか？とても長い質問なので端末の幅を超えます';
        return serviceAt(url()).start({ ...question, message: `No. ${at}: ${at === 2 ? wide : narrow}` });
      };
      for (let at = 1; at <= 7; at += 1) await ask(at);
      const terminal = await runParley(userId, ['inbox'], { columns: 80, rows: 24 });
      await terminal.untilShown(/7 open\.[\s\S]*No\. 7/);
      await ask(8);
      await terminal.untilShown(/8 open\.[\s\S]*No\. 8/);
      // What came was drawn over the list before it.
      expect(await terminal.visible()).not.toContain('7 open');
      await pressAll(terminal, [{ press: 'Down' }]);
      for (const [columns, rows, least] of [
        [80, 24, 8],
        [44, 16, 5],
        [30, 9, 2],
        [80, 24, 8],
      ] as const) {
        await terminal.resize(columns, rows);
        const what = `a list on ${columns}x${rows}`;
        const lines = await waitUntil(async () => listOn(await terminal.visible(), least), { what });
        const options = lines.filter((line) => line.includes('No.'));
        expect(new Set(options.map((line) => line.slice(5, 10))).size).toBe(options.length);
        expect(options.filter((line) => line.includes('●'))).toEqual([
          expect.stringContaining('● No. 2: 会議'),
        ]);
        expect(lines.filter((line) => line.startsWith('◆'))).toHaveLength(1);
      }
    });
  });
}

/** The rows of a screen, once each begins as a row of a list does and enough of them are options that end with their time. */
function listOn(screen: string, least: number): readonly string[] | undefined {
  const lines = screen.trimEnd().split('\n');
  const options = lines.filter((line) => line.includes('No.'));
  const isDrawn =
    lines.every((line) => /^[│◆└]/.test(line)) && options.every((line) => line.endsWith('left)'));
  return isDrawn && options.length >= least ? lines : undefined;
}

/** The time that is left, by what a screen shows last behind a label. */
function secondsLeft(screen: string, label: string): number {
  const [, minutes, seconds] = /\((\d+):(\d\d) left\)/.exec(screen.slice(screen.lastIndexOf(label))) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

/** The message with nothing answered below it yet. */
function lastQuestion(message: string): RegExp {
  return new RegExp(String.raw`${literal(message)}[\s\S]*left\)`);
}

function literal(text: string): string {
  return text.replaceAll(/[.?]/g, '\\$&');
}

const YES = { type: 'object', properties: { yes: { type: 'boolean' } } } as const;

class Crash extends Error {}

function workflowSuite(url: () => string): void {
  /** A person who answers everything as the cases say, until the test has ended or the returned function is called. */
  function answerAll(userId: string): () => void {
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const person = userAt(url(), userId);
    void (async () => {
      for await (const item of person.inbox({ signal: stop.signal })) {
        const open =
          item.type === 'inbox-snapshot'
            ? item.elicitations
            : item.type === 'elicitation-request'
              ? [item.elicitation]
              : [];
        for (const { elicitationId, message } of open) {
          const { content } = caseOf(message);
          // It may have been answered before a reconnect.
          await person
            .answer(elicitationId, { action: 'accept', ...(content !== undefined && { content }) })
            .catch(() => undefined);
        }
      }
    })().catch(() => undefined);
    return () => stop.abort();
  }

  /** One process of the workflow; it dies at its n-th request, before or after the server got it. */
  async function runOnce(parts: {
    readonly userId: string;
    readonly workflowId: string;
    readonly dies?: { readonly at: number; readonly after: boolean };
    readonly effects: Set<string>;
    readonly program?: () => Generator<WorkflowRequest, unknown, unknown>;
  }) {
    const { userId, workflowId, dies, effects } = parts;
    let sent = 0;
    const crash = new AbortController();
    const crashing: typeof fetch = async (input, init) => {
      sent += 1;
      if (crash.signal.aborted || (sent === dies?.at && !dies.after)) crash.abort(new Crash());
      crash.signal.throwIfAborted();
      const reply = await fetch(input, init);
      if (sent === dies?.at) crash.abort(new Crash());
      crash.signal.throwIfAborted();
      return reply;
    };
    const options = { baseUrl: url(), token: SERVICE_KEY, retry: QUICK, fetch: crashing };
    const client = serviceAt(url(), { fetch: crashing });
    const handlers = [createParleyHandler({ client, userId })];
    const elicitor = createElicitor({ handlers, timeoutSeconds: PATIENT_S });
    const record = createParleyRecord({ ...options, workflowId, userId });
    const program = parts.program ?? (() => twenty((key) => effects.add(key)));
    const result = await runWorkflow(program, { elicitor, record, signal: crash.signal });
    return { result, sent };
  }

  describe('a workflow of twenty questions', () => {
    it('that is killed at a step continues with its answers and effects, each once', {
      timeout: isFullSize ? 1_800_000 : paced(120_000),
    }, async () => {
      const userId = newUser();
      answerAll(userId);
      const whole = await runOnce({ userId, workflowId: `w-${randomUUID()}`, effects: new Set() });
      expect(whole.result).toEqual(expectedOfTwenty());
      const points = isFullSize
        ? Array.from({ length: whole.sent }, (_, at) => at + 1).flatMap((at) => [
            { at, after: false },
            { at, after: true },
          ])
        : [
            { at: 2, after: true },
            { at: Math.floor(whole.sent / 2), after: false },
          ];
      const kills = points.length;
      const killed = async (dies: { readonly at: number; readonly after: boolean }) => {
        const one = { userId: newUser(), workflowId: `w-${randomUUID()}`, effects: new Set<string>() };
        const stopAnswering = answerAll(one.userId);
        // A run may need fewer requests than another: then it ends.
        await runOnce({ ...one, dies }).catch((error) => expect(error).toBeInstanceOf(Crash));
        expect((await runOnce(one)).result).toEqual(expectedOfTwenty());
        stopAnswering();
        expect(one.effects.size).toBe(4);
        const asked = [];
        for await (const elicitation of userAt(url(), one.userId).list()) asked.push(elicitation.message);
        expect(asked).toHaveLength(20);
      };
      while (points.length > 0) await Promise.all(points.splice(0, KILLED_AT_ONCE).map(killed));
      process.stdout.write(
        `workflow of twenty questions: ${whole.sent} requests; killed ${kills} times and resumed\n`,
      );
    });

    it('records in the keyspace of its person only, and notices there that its program has changed', async () => {
      const userId = newUser();
      answerAll(userId);
      const one = { userId, workflowId: `w-${randomUUID()}`, effects: new Set<string>() };
      const [first, second] = KINDS.map(({ ask }) => ask);
      if (first === undefined || second === undefined) throw new Error('There are too few kinds.');
      const programOf = (last: WorkflowRequest) =>
        function* (): Generator<WorkflowRequest, void, unknown> {
          yield { ask: first };
          yield last;
        };
      await runOnce({ ...one, program: programOf({ ask: second }) });
      const changed = runOnce({ ...one, program: programOf({ step: 'new', run: () => 1 }) });
      await expect(changed).rejects.toBeInstanceOf(WorkflowChangedError);
      await expect(changed).rejects.toMatchObject({ code: 'workflow_changed', position: 1 });

      const entry = (at: number, ofUser: string, token: string) =>
        fetch(`${url()}/v1/workflows/${one.workflowId}/entries/${at}?userId=${ofUser}`, {
          headers: { authorization: `Bearer ${token}` },
        });
      expect((await entry(0, userId, SERVICE_KEY)).status).toBe(200);
      expect((await entry(0, newUser(), SERVICE_KEY)).status).toBe(404);
      expect((await entry(0, userId, await tokenOf(userId))).status).toBe(403);
      // Also to a reader: a step whose entry is not found is run.
      expect(await (await entry(500, userId, SERVICE_KEY)).json()).toMatchObject({
        status: 413,
        code: 'too_large',
      });
    });
  });

  describe('a stream in the view elicit', () => {
    it('has elicitation_requested, and its answer call ties the question to the stream', async () => {
      const userId = newUser();
      const streamRequestId = `s-${randomUUID()}`;
      const requestedSchema = {
        type: 'object',
        properties: { env: { type: 'string', enum: ['staging', 'production'] } },
        required: ['env'],
      } as const;
      const { elicitation, outcome } = await serviceAt(url()).start({
        userId,
        streamRequestId,
        mode: 'form',
        message: 'Where to?',
        requestedSchema,
        timeoutSeconds: PATIENT_S,
      });
      const headers = {
        authorization: `Bearer ${await tokenOf(userId)}`,
        'content-type': 'application/json',
      };
      const stop = new AbortController();
      onTestFinished(() => stop.abort());
      const events = await fetch(`${url()}/v1/streams/${streamRequestId}/events?view=elicit`, {
        headers,
        signal: stop.signal,
      });
      const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      const until = async (part: string) => {
        while (!text.includes(part)) text += (await reader?.read())?.value ?? '';
      };
      await until('expires_at');
      const data = JSON.parse(/^event: elicitation_requested\ndata: (.*)$/m.exec(text)?.[1] ?? '{}');
      const { elicitationId: elicit_id } = elicitation;
      expect(data).toMatchObject({
        elicit_id,
        type: 'choice',
        prompt: 'Where to?',
        options: ['staging', 'production'],
      });
      const respond = (stream: string, body: object) =>
        fetch(`${url()}/v1/streams/${stream}/elicitations/${elicit_id}/respond`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ elicit_id, action: 'accept', ...body }),
        });
      expect((await respond('another', { value: 'staging' })).status).toBe(404);
      expect((await respond(streamRequestId, { value: 'nowhere' })).status).toBe(422);
      expect((await respond(streamRequestId, { value: 'staging' })).status).toBe(200);
      expect(await outcome).toMatchObject({ status: 'accepted', content: { env: 'staging' } });
      await until('elicitation_resolved');
    });
  });
}
