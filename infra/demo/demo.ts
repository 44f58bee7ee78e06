import { randomBytes } from 'node:crypto';
import { createClient, type Outcome } from '@parley/sdk';
import { userToken } from '../../test/harness/tokens.ts';
import { waitUntil } from '../../test/harness/wait-until.ts';
import { type Agent, askForm, askUrl } from './agent.ts';
import { answerByItself } from './auto.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { type Service, startService } from './service.ts';

const USER = 'alice';
const TENANT = 'acme';
const auto = process.argv.includes('--auto');

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(): Promise<void> {
  const secret = randomBytes(32).toString('base64url');
  const serviceKey = randomBytes(24).toString('base64url');
  const token = await userToken({ secret, userId: USER, tenant: TENANT, expiresInSeconds: 86_400 });
  let apiUrl = '';
  const page = await startPageServer({ apiUrl: () => apiUrl, userToken: token, userId: USER });
  const service = await startService(
    { PARLEY_JWT_SECRET: secret, PARLEY_API_KEYS: `${TENANT}:${serviceKey}`, PARLEY_CORS_ORIGINS: page.url },
    say,
  );
  apiUrl = service.url;
  const close = closing(service, page);
  const client = createClient({ baseUrl: service.url, token: serviceKey });
  tellHowToWatch(service, page);
  const played = new AbortController();
  const person = auto ? answerByItself(service.url, token, played.signal) : undefined;
  // The agent's outcome is what decides; a person who fails shows there as a question without an answer.
  person?.catch(() => undefined);
  const agent = (onAsked: (id: string) => void): Agent => ({ client, page, userId: USER, onAsked });
  await play('a form', service, (onAsked) => askForm(agent(onAsked)));
  await play('a page to open', service, (onAsked) => askUrl(agent(onAsked)));
  played.abort();
  say('\nBoth questions ended. That is the demo.');
  if (auto) await close();
  else say('Press Ctrl+C to stop.');
}

async function play(
  what: string,
  service: Service,
  ask: (onAsked: (id: string) => void) => Promise<Outcome<unknown>>,
): Promise<void> {
  let elicitationId = '';
  const outcome = await ask((id) => {
    elicitationId = id;
    say(`\nThe agent asks ${USER} (${what}): ${id}`);
  });
  const asked = service.podThat('asked', elicitationId) ?? 'a pod';
  // The log line comes a moment after the reply that it is about.
  const ended = outcome.status === 'accepted' ? 'answered' : outcome.status;
  const answered = await waitUntil(() => service.podThat(ended, elicitationId) ?? '', {
    what: 'the pod that ended it',
    timeoutMs: 2_000,
  }).catch(() => 'the worker, or a pod');
  const content =
    outcome.status === 'accepted' && outcome.content !== undefined
      ? ` ${JSON.stringify(outcome.content)}`
      : '';
  say(`  ${outcome.status}${content}: asked on ${asked}, ended on ${answered}.`);
}

function tellHowToWatch({ redisUrl }: Service, page: PageServer): void {
  if (!auto) say(`\nAnswer here:   ${page.url}`);
  if (redisUrl === undefined) return;
  say(`\nWatch it in Redis from another terminal:
  redis-cli -u ${redisUrl} --scan --pattern 'parley:{b*'
  redis-cli -u ${redisUrl} PSUBSCRIBE 'parley:*:stream:*'
More of these: docs/redis.md`);
}

/** Stops everything once, whoever asks for it. */
function closing(service: Service, page: PageServer): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= Promise.all([page.close(), service.stop()]).then(() => process.exit(0));
    return closed;
  };
  process.once('SIGINT', close);
  process.once('SIGTERM', close);
  return close;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
