import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { microseconds } from '../../measurement.ts';
import { QUESTION } from '../../pod/engine.ts';
import type { Contender } from '../../processes/contenders.ts';
import { inSlots } from '../../slots.ts';

const TABLE = `
  CREATE TABLE IF NOT EXISTS questions (
    id uuid PRIMARY KEY,
    asker text NOT NULL,
    definition jsonb NOT NULL,
    status text NOT NULL,
    answer jsonb,
    expires_at timestamptz NOT NULL
  )`;
const ASK = `
  INSERT INTO questions (id, asker, definition, status, expires_at)
  VALUES ($1, $2, $3, 'pending', now() + interval '10 minutes')`;
// One statement, so one round trip and one commit. The notification is sent when the transaction commits.
const SETTLE = `
  WITH settled AS (
    UPDATE questions SET status = 'accepted', answer = $2
    WHERE id = $1 AND status = 'pending' AND expires_at > now() RETURNING id, asker, answer
  )
  SELECT pg_notify(asker, json_build_object('id', id, 'answer', answer)::text) FROM settled`;
const CONNECTIONS = 10;

interface Notice {
  readonly id: string;
  readonly answer: { readonly at: number };
}

/** A row for each question; an answer updates it and notifies the channel of the asker. */
export async function openPeer(url: string): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  const channel = `asker_${process.pid}`;
  const waiters = new Map<string, (answer: Notice['answer']) => void>();
  let listening: Promise<void> | undefined;
  const listen = async () => {
    await pool.query(TABLE);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    client.on('notification', ({ payload = '' }) => {
      const { id, answer } = JSON.parse(payload) as Notice;
      waiters.get(id)?.(answer);
      waiters.delete(id);
    });
    await client.query(`LISTEN ${channel}`);
  };
  return {
    async open(count, _streams, onResumed) {
      listening ??= listen();
      await listening;
      const ids = Array.from({ length: count }, () => randomUUID());
      for (const id of ids) {
        const answered = new Promise<Notice['answer']>((resolve) => waiters.set(id, resolve));
        void answered.then(({ at }) => onResumed(at));
      }
      await inSlots(count, CONNECTIONS, async (index) => {
        await pool.query({ name: 'ask', text: ASK, values: [ids[index], channel, JSON.stringify(QUESTION)] });
      });
      return ids;
    },
    async settle(id) {
      const answer = JSON.stringify({ environment: 'staging', at: microseconds() });
      await pool.query({ name: 'settle', text: SETTLE, values: [id, answer] });
    },
  };
}
