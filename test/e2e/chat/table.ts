import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { cellsOn } from './cells.ts';

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

/** Walks the table of docs/chat-transport.md: each act in each state of a turn. */
export function statesOfTurns(the: () => ChatSite): void {
  describe('the table of docs/chat-transport.md', () => {
    const isSpeaking = (state = '') => /its model sp/.test(state);
    const isDying = (state = '') => state.startsWith('its pod has died');

    it('has the states and the acts that are tried, and says of each act what is tried', () => {
      const { states, acts } = cellsOn(the());
      expect(ROWS.map(([state]) => state)).toEqual(Object.keys(states));
      expect(ACTS.slice(1)).toEqual(Object.keys(acts));
      for (const [at, act] of Object.keys(acts).entries())
        expect(new Set(ROWS.map((row) => row[at + 1]))).toEqual(new Set(Object.keys(acts[act] ?? {})));
    });

    /** Brings each cell about, has its pod die where it says so, acts, and lets the model go on. */
    async function walk(rows: readonly (readonly string[])[]): Promise<void> {
      const chats = the();
      const { states, acts } = cellsOn(chats);
      const cells: { act: () => Promise<(() => Promise<void>) | undefined>; name: string }[] = [];
      for (const [state = '', ...told] of rows) {
        if (isSpeaking(state)) chats.gate.hold();
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
      const replaced = isDying(rows[0]?.[0]) ? chats.replace(0, 'SIGKILL') : undefined;
      const rest = await Promise.all(
        cells.map(async ({ name, act }) => ({ name, finish: await named(name, act()) })),
      );
      chats.gate.release();
      await Promise.all(rest.map(({ name, finish }) => named(name, finish?.())));
      await replaced;
    }

    it.each(ROWS.filter(([state]) => !isDying(state)))('a turn: %s', (...row) => walk([row]));

    it('a turn: its pod has died', () => walk(ROWS.filter(([state]) => isDying(state))));
  });
}
