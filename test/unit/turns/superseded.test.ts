import { expect, it } from 'vitest';
import { createSupersededScan } from '../../../services/api/src/turns/superseded.ts';
import { restart, say, started, step } from '../../harness/turns/turns.ts';

it('a restart supersedes the text after the start of its step, up to the restart itself', () => {
  const scan = createSupersededScan();
  const turn = [started, step(0), say('a', 'void'), restart(0), step(0), say('b', 'kept')];
  const positions = turn.map((_, seq) => ({ epoch: 'e', seq }));
  for (const [seq, event] of turn.entries()) scan.see({ position: { epoch: 'e', seq }, event });
  const isCovered = (characters?: number) =>
    positions.map((position) =>
      scan.covers(characters === undefined ? position : { ...position, characters }),
    );
  expect(isCovered()).toEqual([false, false, true, false, false, false]);
  expect(isCovered(1)).toEqual([false, true, true, false, false, false]);
});
