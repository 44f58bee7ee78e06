import { randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { microseconds } from '../../measurement.ts';
import { QUESTION } from '../../pod/engine.ts';
import type { Contender } from '../../processes/contenders.ts';
import { inSlots } from '../../slots.ts';

const BUCKET = 'questions';
const SLOTS = 64;

interface Entry {
  readonly status: 'pending' | 'accepted';
  readonly answer?: { readonly at: number };
}

/**
 * A key for each question in a bucket that lies in a file. The asker watches the keys below its own prefix. An answer
 * updates the key only at the revision that the ask wrote, so that one answer wins.
 */
export async function openPeer(url: string): Promise<Contender> {
  const connection = await connect({ servers: url });
  const manager = new Kvm(jetstream(connection));
  const bucket = await manager.create(BUCKET, { history: 1, ttl: 86_400_000 });
  const asker = randomUUID();
  const waiters = new Map<string, (at: number) => void>();
  let isWatching = false;
  const watch = async () => {
    for await (const entry of await bucket.watch({ key: `${asker}.>` })) {
      const { answer } = entry.json<Entry>();
      if (answer === undefined) continue;
      waiters.get(entry.key)?.(answer.at);
      waiters.delete(entry.key);
    }
  };
  return {
    async open(count, _streams, onResumed) {
      if (!isWatching) void watch();
      isWatching = true;
      const pending = JSON.stringify({ status: 'pending', question: QUESTION });
      const ids: string[] = [];
      await inSlots(count, SLOTS, async () => {
        const key = `${asker}.${randomUUID()}`;
        void new Promise<number>((resolve) => waiters.set(key, resolve)).then(onResumed);
        ids.push(`${key} ${await bucket.create(key, pending)}`);
      });
      // The watch reads every ask as well; those reads must not fall into the race.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return ids;
    },
    async settle(id) {
      const [key = '', revision] = id.split(' ');
      const answer = { environment: 'staging', at: microseconds() };
      await bucket.update(
        key,
        JSON.stringify({ status: 'accepted', question: QUESTION, answer }),
        Number(revision),
      );
    },
  };
}
