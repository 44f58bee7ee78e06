/**
 * `npm run demo`: reads its options, starts the world and prints how to use it. What is started is in `world.ts`; the automatic
 * story is in `auto.ts`.
 */

import './quiet.ts';
import { playStory } from './auto.ts';
import { narrate } from './narrator.ts';
import { type ModelEndpoint, OPERATOR } from './neighbours.ts';
import { startWorld, type World } from './world.ts';

const auto = process.argv.includes('--auto');
/** Differs from the host of the accounts and the chat, as in production. It is a name, because people see it. */
const PUBLIC_HOST = 'localhost';

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** `npm run demo`: everything runs until Ctrl+C. With `--auto`, a browser uses it and the exit code is the result. */
async function main(): Promise<void> {
  const model = modelFrom(process.env);
  if (auto && model !== undefined)
    throw new Error('--auto plays a fixed story that only the scripted model knows: unset DEMO_MODEL_URL.');
  const deadlineSeconds = deadlineFrom(process.env);
  const starting = startWorld({
    print,
    publicHost: PUBLIC_HOST,
    deadlineSeconds,
    ...(model !== undefined && { model }),
  });
  const close = closing(starting);
  const world = await starting;
  printAddresses(world);
  if (!auto) {
    narrate(world.service, print);
    print('\nPress Ctrl+C to stop.');
    return;
  }
  try {
    await playStory(world, print);
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(
      `\nThe story broke off: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
  await close();
}

/** The real model that DEMO_MODEL_URL (base URL of an OpenAI-compatible endpoint), DEMO_MODEL and DEMO_MODEL_API_KEY name. */
function modelFrom(env: Readonly<Record<string, string | undefined>>): ModelEndpoint | undefined {
  const { DEMO_MODEL_URL: url, DEMO_MODEL: model, DEMO_MODEL_API_KEY: apiKey } = env;
  if (!url) return undefined;
  if (!model) throw new Error('DEMO_MODEL must name the model that DEMO_MODEL_URL shall use.');
  return { url, model, apiKey: apiKey || 'none' };
}

/** DEMO_DEADLINE_SECONDS: how long a person may take to answer an agent, so that an expiry can be watched. */
function deadlineFrom(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = env.DEMO_DEADLINE_SECONDS;
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1) return seconds;
  throw new Error('DEMO_DEADLINE_SECONDS must be a whole number of seconds.');
}

function printAddresses({ page, service, neighbours, tenant }: World): void {
  const { model, scripted, accounts, tracker, publicUrl } = neighbours;
  print(`
Chat:          ${page.url}
Bare page:     ${page.url}/bare (one question, in fifteen lines of HTML)
Console:       ${publicUrl}/console (for operators: sign in as ${OPERATOR})
Accounts:      ${accounts.issuer} (a stand-in: sign in as alice or bob, without a password)
Issue tracker: ${tracker.url} (a stand-in: an MCP server that demands each person's token)
Model:         ${model.url} ${scripted === undefined ? `(${model.model})` : '(scripted: its lines are fixed; DEMO_MODEL_URL and DEMO_MODEL name a real one)'}
Agents:        demo/agents.yaml
Deadline:      ten minutes for each question; DEMO_DEADLINE_SECONDS=30 shortens it`);
  if (service.redisUrl === undefined) return;
  print(`
Watch it in Redis from another terminal:
  redis-cli -u ${service.redisUrl} --scan --pattern 'parley:{*}:*:${tenant}/*'
  redis-cli -u ${service.redisUrl} PSUBSCRIBE 'parley:*:stream:*'
More of these: docs/redis.md`);
}

/** Makes a function that stops everything, only once, and also during the start. */
function closing(starting: Promise<World>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= starting.then((world) => world.close());
    return closed;
  };
  const end = () =>
    void close()
      .catch(() => undefined)
      .then(() => process.exit());
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  return close;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
