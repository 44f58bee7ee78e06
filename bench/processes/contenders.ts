import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { commitNames } from '@parley/shared/redis/client/keys';
import { Redis } from 'ioredis';
import { microseconds } from '../measurement.ts';
import { openBenchEngine, QUESTION, SERVICE, TENANT, userOf } from '../pod/engine.ts';
import { inSlots } from '../slots.ts';
import type { Variant } from './messages.ts';
import { rawCommands } from './raw-scripts.ts';
import { openStraight } from './straight.ts';

/** What the straight scripts publish. */
interface Woken {
  readonly elicitationId: string;
  readonly settlement?: { readonly content: { readonly at: number } };
}

const POD_CHANNEL = 'bench:pod';

/** One way to wait in one process and to settle from another. */
export interface Contender {
  /** Opens waits; each records the time from its settle's start to its own continuation. */
  open(count: number, streams: number, onResumed: (startedAt: number) => void): Promise<string[]>;
  /** Runs in the settling process, before the clock: whatever a settle of these needs there first. */
  prepare?(ids: readonly string[]): Promise<void>;
  /** Settles one, carrying the time it started. Records here only with `continuesInSettler`. */
  settle(id: string, onResumed: (startedAt: number) => void): Promise<void>;
  /** The continuation runs in the settling process, because nothing wakes the process that opened the wait. */
  readonly continuesInSettler?: boolean;
}

/** What the module of a peer exports. */
export interface PeerModule {
  /** `address`: of the peer's server, as its entry in the table of peers gives it. */
  openPeer(address: string): Promise<Contender>;
}

export async function openContender(variant: Exclude<Variant, 'peer'>, redisUrl: string): Promise<Contender> {
  if (variant === 'straight') return openStraightContender(redisUrl);
  if (variant === 'engine' || variant === 'shown') return openEngine(redisUrl, variant === 'shown');
  return variant === 'publish' ? openPublish(redisUrl) : openRaw(redisUrl, variant === 'validated');
}

async function openPublish(redisUrl: string): Promise<Contender> {
  const redis = new Redis(redisUrl);
  const subscriber = new Redis(redisUrl);
  let resumed: (startedAt: number) => void = () => undefined;
  subscriber.on('message', (_channel, message: string) => resumed(Number(message)));
  return {
    async open(count, _streams, onResumed) {
      resumed = onResumed;
      await subscriber.subscribe(POD_CHANNEL);
      return Array.from({ length: count }, (_, index) => String(index));
    },
    async settle() {
      await redis.publish(POD_CHANNEL, String(microseconds()));
    },
  };
}

async function openRaw(redisUrl: string, isValidated: boolean): Promise<Contender> {
  const redis = new Redis(redisUrl);
  const subscriber = new Redis(redisUrl);
  const waiters = new Map<string, (answer: string) => void>();
  subscriber.on('message', (_channel, message: string) => {
    const space = message.indexOf(' ');
    waiters.get(message.slice(0, space))?.(message.slice(space + 1));
  });
  const definition = JSON.stringify(QUESTION);
  const commands = rawCommands(redis);
  let round = 0;
  return {
    async open(count, _streams, onResumed) {
      round += 1;
      await subscriber.subscribe(POD_CHANNEL);
      const ids = Array.from(
        { length: count },
        (_, index) => `bench:{raw}:${process.pid}:${isValidated}:${round}:${index}`,
      );
      for (const id of ids) {
        void new Promise<string>((resolve) => waiters.set(id, resolve)).then((answer) => {
          waiters.delete(id);
          onResumed((JSON.parse(answer) as { at: number }).at);
        });
      }
      await Promise.all(
        ids.map((id) => commands.benchOpen(id, 'bench:{raw}:deadlines', definition, Date.now() + 600_000)),
      );
      return ids;
    },
    async settle(id) {
      const answer = { environment: 'staging', at: microseconds() };
      if (isValidated) await validate(redis, id, answer);
      await commands.benchSettle(id, 'bench:{raw}:deadlines', JSON.stringify(answer), POD_CHANNEL);
    },
  };
}

/** Reads the row and checks the answer against its schema, by the rules of the product. */
async function validate(redis: Redis, id: string, answer: object): Promise<void> {
  const [status, text] = await redis.hmget(id, 'status', 'definition');
  const { requestedSchema } = JSON.parse(text ?? '') as { readonly requestedSchema: FormSchema };
  if (status !== 'pending' || !checkFormAnswer(requestedSchema, answer).ok)
    throw new Error(`${id} is ${status}`);
}

/** The floor of an answer to a question that the answering process has shown. */
function openStraightContender(redisUrl: string): Contender {
  const straight = openStraight(new Redis(redisUrl));
  const subscriber = new Redis(redisUrl);
  const waiters = new Map<string, (startedAt: number) => void>();
  const rows = new Map<string, Row>();
  subscriber.on('message', (_channel, message: string) => {
    const { elicitationId, settlement } = JSON.parse(message) as Woken;
    if (settlement !== undefined) waiters.get(elicitationId)?.(settlement.content.at);
  });
  return {
    async open(count, streams, onResumed) {
      const opened: Row[] = [];
      await inSlots(count, 200, async (index) => {
        const stream = index % streams;
        const row = await straight.open(userOf(stream), `straight-${process.pid}-${stream}`);
        await subscriber.subscribe(commitNames(row, { kinds: new Set(), isOfTurn: false }).streamChannel);
        waiters.set(row.id, (startedAt) => {
          waiters.delete(row.id);
          onResumed(startedAt);
        });
        opened.push(row);
      });
      return opened.map((row) => JSON.stringify(row));
    },
    async prepare(keys) {
      for (const key of keys) rows.set(key, JSON.parse(key) as Row);
    },
    async settle(key) {
      const row = rows.get(key);
      if (row === undefined) throw new Error('A row was not prepared.');
      rows.delete(key);
      await straight.settle(row, { environment: 'staging', at: microseconds() });
    },
  };
}

async function openEngine(redisUrl: string, isShown: boolean): Promise<Contender> {
  const { engine } = await openBenchEngine(redisUrl);
  let asked = 0;
  return {
    async open(count, streams, onResumed) {
      const one = async () => {
        const index = asked;
        asked += 1;
        // A stream request has one owner, so streams are counted within users.
        const streamRequestId = `${process.pid}-${index % streams}`;
        const { row } = await engine.ask({
          tenant: TENANT,
          input: { ...QUESTION, userId: userOf(index % streams), streamRequestId } as never,
        });
        void engine.wait({ caller: SERVICE, id: row.id }).then(({ row: ended }) => {
          onResumed(Number(ended.settlement?.content?.at));
        });
        return `${row.definition.userId} ${row.id}`;
      };
      const ids: string[] = [];
      while (ids.length < count) {
        ids.push(...(await Promise.all(Array.from({ length: Math.min(200, count - ids.length) }, one))));
      }
      // Every waiter reads its row once more after it has subscribed; those reads must not fall into the race.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return ids;
    },
    ...(isShown && {
      async prepare(keys) {
        await Promise.all(keys.map(async (key) => engine.read(personIn(key), idIn(key))));
      },
    }),
    async settle(key) {
      await engine.answer({
        caller: personIn(key),
        id: idIn(key),
        response: { action: 'accept', content: { environment: 'staging', at: microseconds() } },
        surface: 'api',
      });
    },
  };
}

/** The person and the question of `<user> <id>`. */
function personIn(key: string) {
  return { kind: 'user', tenant: TENANT, userId: key.slice(0, key.indexOf(' ')) } as const;
}

function idIn(key: string): string {
  return key.slice(key.indexOf(' ') + 1);
}
