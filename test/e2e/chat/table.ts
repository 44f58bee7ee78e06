import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { cellsOn } from './cells.ts';
import type { Death, Mourner } from './shared-death.ts';

const PAGE = readFileSync(new URL('../../../docs/chat-transport.md', import.meta.url), 'utf8');

const [ACTS = [], , ...ROWS] = tableUnder('## In each state of a turn');

/** The cells of the first table under a heading. */
function tableUnder(heading: string): string[][] {
  const lines = (PAGE.split(`${heading}\n`)[1] ?? '').split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const rest = lines.slice(first);
  const table = rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  );
  return table.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const isSpeaking = (state = '') => /its model sp/.test(state);
const isDying = ([state = '']: readonly string[]) => state.startsWith('its pod has died');

/** Brings each cell about, has its pod die where there is a death, acts, and lets the model go on. */
async function walk(chats: ChatSite, rows: readonly (readonly string[])[], death?: Death): Promise<void> {
  const { states, acts } = cellsOn(chats);
  const cells: { act: () => Promise<(() => Promise<void>) | undefined>; name: string }[] = [];
  for (const [state = '', ...told] of rows) {
    if (isSpeaking(state)) await (death === undefined ? chats.gate.hold() : death.held());
    await Promise.all(
      told.map(async (cell, at) => {
        const act = ACTS[at + 1] ?? '';
        const talk = await states[state]?.();
        const check = acts[act]?.[cell];
        if (talk === undefined || check === undefined) throw new Error(`Nothing tries "${cell}".`);
        cells.push({ name: `${state} | ${act} | ${cell}`, act: () => check(talk) });
      }),
    );
  }
  const named = <T>(name: string, work: Promise<T> | undefined) =>
    work?.catch((cause: unknown) => Promise.reject(new Error(`${name}: ${cause}`, { cause })));
  await death?.dies();
  const rest = await Promise.all(
    cells.map(async ({ name, act }) => ({ name, finish: await named(name, act()) })),
  );
  await (death === undefined ? chats.gate.release() : death.goesOn());
  await Promise.all(rest.map(({ name, finish }) => named(name, finish?.())));
}

/** Walks the rows of the table in which the pod of the turn has died. */
export const statesOfDeath = (the: () => ChatSite): Mourner => ({
  name: 'a turn: its pod has died',
  test: (death) => walk(the(), ROWS.filter(isDying), death),
});

/** Walks the table of docs/chat-transport.md: each act in each state of a turn. */
export function statesOfTurns(the: () => ChatSite): void {
  describe('the table of docs/chat-transport.md', () => {
    it('has the states and the acts that are tried, and says of each act what is tried', () => {
      const { states, acts } = cellsOn(the());
      expect(ROWS.map(([state]) => state)).toEqual(Object.keys(states));
      expect(ACTS.slice(1)).toEqual(Object.keys(acts));
      for (const [at, act] of Object.keys(acts).entries())
        expect(new Set(ROWS.map((row) => row[at + 1]))).toEqual(new Set(Object.keys(acts[act] ?? {})));
    });

    it.each(ROWS.filter((row) => !isDying(row)))('a turn: %s', (...row) => walk(the(), [row]));
  });
}
