import { describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { textOf } from '../../harness/chat/client.ts';
import { headingOf } from '../../harness/pages/browser.ts';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { NOTES, wholeText } from './agents.ts';
import { asked, meet, type Person } from './person.ts';
import type { Recorder } from './recorder.ts';
import { tokensOf, withVault } from './vault.ts';
import type { World } from './world.ts';

type Texts = Readonly<Record<string, readonly string[]>>;

/** Searches for secrets in every place that must not contain them, after a story with many failures. Ends the pods. */
export function canaries(the: () => World, recorder: () => Recorder): void {
  describe('secrets', () => {
    it('never appear in logs, spans, metrics, streams, pages, model requests, or unsealed in Redis [MCP25-38 MCP25-42 MCP26-26 MCP26-30 ACP-26]', async () => {
      const world = the();
      const commands: string[] = [];
      const stopWatching = await watchCommands(world.redis.url, (args) => commands.push(args.join(' ')));
      const person = await meet(world);
      const [wrongKey, answer] = [canary('wrong-key'), canary('answer')];
      const tokens = await connectBadly(world, person);
      await typeKeys(world, person, wrongKey);
      expect(textOf(await (await person.say('echo Hello')).done)).toContain('Hello');
      await answerForm(person, answer);

      const seen = { ...(await collectEvidence(world, recorder())), 'commands to Redis': commands };
      stopWatching();
      expectEvidence(seen);
      const secrets = { ...world.secrets, ...tokens, wrongKey, userToken: person.token };
      expect(sightings(secrets, seen)).toEqual([]);
      const streams = recorder()
        .replies()
        .filter((reply) => reply.includes('text/event-stream'));
      const { logs, spans, metrics } = seen;
      expect(sightings({ answer }, { logs, spans, metrics, streams, addresses: recorder().urls })).toEqual(
        [],
      );
    });
  });
}

/** Connects an account whose provider and tracker fail in turn; returns the secrets that they exchanged. */
async function connectBadly(world: World, person: Person): Promise<Record<string, string>> {
  const { accounts, tracker } = world;
  const replyTo = async (text: string) => textOf(await (await person.say(text)).done);
  const [turn, stranger] = [await person.say('file one'), await meet(world)];
  const question = await asked(turn);
  const mismatch = await stranger.browser.enter(question.url ?? '', stranger.userId);
  expect(mismatch.heading).toBe(headingOf({ page: 'mismatch' }));

  const reflecting = async <T>(run: () => Promise<T>): Promise<T> => {
    const stop = accounts.misbehave({ at: 'token', status: 400, reflect: true });
    return run().finally(stop);
  };
  const unknown = await reflecting(() => person.browser.enter(question.url ?? '', person.userId));
  expect(unknown.heading).toContain('could not be signed in');
  const callback = await person.agree(question);
  const failed = await reflecting(() => person.browser.open(callback));
  expect(failed.heading).toBe(headingOf({ page: 'failed', reason: 'provider_error', requestId: 'r' }));
  await person.connect(question);
  expect(textOf(await turn.done)).toBe(wholeText('one'));
  const before = await withVault(world, (vault) => tokensOf(vault, person.userId));

  for (const fault of [{ kind: 'status', status: 500 }, { kind: 'cut' }, { kind: 'rpc-error' }] as const) {
    tracker.failNext(fault, { subject: person.userId });
    expect(await replyTo('file nothing')).not.toContain('Created');
  }
  world.endToken(before.accessToken);
  // A refresh that is refused with what was sent: the person connects again.
  const refused = await reflecting(async () => {
    const again = await person.say('file one more');
    return { again, question: await asked(again) };
  });
  await person.connect(refused.question);
  expect(textOf(await refused.again.done)).toBe(wholeText('one more'));
  expect(await replyTo('file two')).toBe(wholeText('two'));
  const after = await withVault(world, (vault) => tokensOf(vault, person.userId));
  expect(after.refreshToken).not.toBe(before.refreshToken);
  return {
    oldAccessToken: before.accessToken,
    oldRefreshToken: before.refreshToken ?? '',
    accessToken: after.accessToken,
    refreshToken: after.refreshToken ?? '',
    ...Object.fromEntries(person.codes.map((code, index) => [`code ${index}`, code])),
  };
}

/** A wrong key, then the right one. */
async function typeKeys(world: World, { say, browser, userId }: Person, wrongKey: string): Promise<void> {
  const turn = await say('note one');
  const page = await browser.enter((await asked(turn)).url ?? '', userId);
  const again = await browser.submit(page, 'secret', { secret: wrongKey });
  expect(again.html).toContain('not accepted');
  const done = await browser.submit(again, 'secret', { secret: world.secrets.apiKey });
  expect(done.heading).toBe(headingOf({ page: 'done', service: NOTES }));
  expect(textOf(await turn.done)).toBe(wholeText('one'));
}

async function answerForm(person: Person, answer: string): Promise<void> {
  const turn = await person.say('ask');
  const { elicitationId } = await asked(turn);
  const reply = await person.answer(elicitationId, { action: 'accept', content: { answer } });
  expect(reply.status).toBe(200);
  expect(textOf(await turn.done)).toContain('Thank you.');
}

async function collectEvidence(world: World, recorder: Recorder) {
  const stored = await withRedis(world.redis.url, (redis) => dumpRedis(redis));
  const scrape = async ({ metricsUrl }: World['pods'][number]) => (await fetch(metricsUrl)).text();
  const metrics = await Promise.all(world.pods.map(scrape));
  // Pods flush their last spans and log lines when they end.
  await Promise.all(world.pods.map((pod) => pod.stop()));
  return {
    logs: world.pods.flatMap(({ lines, stderr }) => [...lines, ...stderr]),
    spans: world.telemetry,
    metrics,
    'replies and pages': recorder.replies(),
    'requests to the model': world.model.requests.map(({ body }) => JSON.stringify(body)),
    Redis: stored,
  };
}

/** Expects that each searched place has content: an empty place would prove nothing. */
function expectEvidence(seen: Awaited<ReturnType<typeof collectEvidence>> & Texts): void {
  const holds: Readonly<Record<keyof typeof seen, string>> = {
    logs: 'credential refresh',
    spans: 'elicitation.requested',
    metrics: 'parley_elicitation_requests_total',
    'replies and pages': 'data-elicitation-request',
    'requests to the model': 'file two',
    Redis: ':credential:',
    'commands to Redis': ':credential:',
  };
  for (const [place, text] of Object.entries(holds))
    expect(
      seen[place]?.some((one) => one.includes(text)),
      `${place} with ${text}`,
    ).toBe(true);
}

function sightings(secrets: Readonly<Record<string, string>>, seen: Texts): object[] {
  return Object.entries(secrets).flatMap(([secret, marker]) => {
    expect(marker.length, secret).toBeGreaterThan(20);
    return Object.entries(seen).flatMap(([place, texts]) =>
      findCanary(marker, texts).map((found) => ({ secret, place, ...found })),
    );
  });
}
