import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { waitUntil } from '../../../test/harness/wait-until.ts';
import { microseconds } from '../../measurement.ts';
import { QUESTION } from '../../pod/engine.ts';
import type { Contender } from '../../processes/contenders.ts';
import { inSlots } from '../../slots.ts';

const TOPIC = 'answer';
const TIMEOUT_SECONDS = 600;
const SLOTS = 10;
// A workflow that receives has stored the deadline of its wait as a step.
const RECEIVING =
  'SELECT count(DISTINCT workflow_uuid)::int AS count FROM dbos.operation_outputs WHERE workflow_uuid = ANY($1)';

/** A workflow for each question, which receives the answer as a message. Another process sends it with a client. */
export async function openPeer(url: string): Promise<Contender> {
  let asker: ReturnType<typeof launchAsker> | undefined;
  let client: Promise<DBOSClient> | undefined;
  return {
    async open(count, _streams, onResumed) {
      asker ??= launchAsker(url);
      return (await asker)(count, onResumed);
    },
    async prepare() {
      client ??= DBOSClient.create({ systemDatabaseUrl: url });
      await client;
    },
    async settle(id) {
      await (await client)?.send(id, { environment: 'staging', at: microseconds() }, TOPIC);
    },
  };
}

async function launchAsker(url: string) {
  let resumed: (startedAt: number) => void = () => undefined;
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' });
  const ask = DBOS.registerWorkflow(
    async (_question: object): Promise<void> => {
      const answer = await DBOS.recv<{ at: number }>(TOPIC, { timeoutSeconds: TIMEOUT_SECONDS });
      if (answer !== null) resumed(answer.at);
    },
    { name: 'ask' },
  );
  await DBOS.launch();
  const observer = new pg.Client({ connectionString: url });
  await observer.connect();
  return async (count: number, onResumed: (startedAt: number) => void): Promise<string[]> => {
    resumed = onResumed;
    const ids: string[] = [];
    await inSlots(count, SLOTS, async () => {
      const { workflowID } = await DBOS.startWorkflow(ask)(QUESTION);
      ids.push(workflowID);
    });
    await waitUntil(async () => (await observer.query(RECEIVING, [ids])).rows[0]?.count === count, {
      what: 'every workflow to receive',
      timeoutMs: 60_000,
    });
    // Every receiver looks for its message once; those reads must not fall into the race.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return ids;
  };
}
