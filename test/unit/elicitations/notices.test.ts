import { randomUUID } from 'node:crypto';
import { NotifyRules } from '@parley/core/domain/notify';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { OWNER_RECORDS_MAX } from '@parley/shared/ports/owner-records';
import { expect, it } from 'vitest';
import { createSeenNotes } from '../../../services/api/src/agents/run/reach.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { FAMILY_DRIVERS } from '../../harness/engines/families.ts';
import { newStream } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';

const HOUR_MS = 3_600_000;
const notify = NotifyRules.parse({ channel: 'slack', afterSeconds: 60 });

it('notes of what was seen do not take the place of other records of their owner', async () => {
  const backend = createMemoryBackend(ROOMY);
  const engine = engineOn(backend);
  const stream = newStream();
  const [, approvals] = FAMILY_DRIVERS;
  const opened = await approvals?.open(engine, stream, { notify });
  if (opened === undefined) throw new Error('No approval.');
  await backend.ownerRecords.mcp.putIfAbsent(stream, 'a session', 'kept', 600_000);
  const ids = Array.from({ length: OWNER_RECORDS_MAX }, () => randomUUID());
  for (const id of ids) await approvals?.see(engine, stream, { ...opened, row: { ...opened.row, id } });
  expect(await backend.ownerRecords.mcp.read(stream, 'a session')).toBe('kept');
});

it.each(FAMILY_DRIVERS)('a replay does not ask for notes of an ended $name', async (family) => {
  const engine = engineOn(createMemoryBackend(ROOMY));
  const stream = newStream();
  const { row } = await family.open(engine, stream, { notify });
  const isNoted = async () => {
    const noted: boolean[] = [];
    for await (const item of engine.replayItems(stream)) noted.push('hasNotices' in item);
    return noted;
  };
  expect(await isNoted()).toEqual([true]);
  await family.decisions[0]?.send(engine, stream, row.id);
  expect(await isNoted()).toEqual([false, false]);
});

it('a reader of a turn reads its run once, and notes each record once', async () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const asked = (elicitationId: string) =>
    ({ elicitationId, mode: 'url', createdAt: at(0), expiresAt: at(HOUR_MS), serverTime: at(0) }) as never;
  const noted: unknown[] = [];
  let reads = 0;
  const deps = {
    engine: { notices: { seen: async (_owner: unknown, record: unknown) => void noted.push(record) } },
    runs: {
      read: async () => {
        reads += 1;
        return { run: { support: { form: true, url: true } } };
      },
    },
  };
  const note = createSeenNotes(deps as never, newStream());
  const [one, other] = [asked('e1'), asked('e2')];
  await Promise.all([one, other, one].map(note));
  expect(noted).toEqual([one, other]);
  expect(reads).toBe(1);
});
