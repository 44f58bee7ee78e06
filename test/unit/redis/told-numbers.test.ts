import { createToldNumbers } from '@parley/shared/redis/tenants/told-numbers';
import { expect, it } from 'vitest';

const at = (number: number) => new Map([['b00', number]]);

/** What comes after a count has begun at 5, and whether nothing was missed by each step. `told`: a renewal. */
type Step = { readonly change: number } | { readonly told: number };

const ROWS: [what: string, steps: Step[], isWhole: boolean[]][] = [
  ['each change comes', [{ change: 6 }, { change: 7 }, { told: 7 }, { told: 7 }], [true, true, true, true]],
  ['a change from before the begin is late', [{ change: 5 }, { change: 6 }], [true, true]],
  ['a change is missing before the next one', [{ change: 7 }, { change: 8 }], [false, true]],
  ['the last change is on its way', [{ told: 6 }, { change: 6 }, { told: 6 }], [true, true, true]],
  ['the last change never comes', [{ told: 6 }, { told: 6 }], [true, false]],
  ['a server has lost changes', [{ change: 6 }, { told: 5 }], [true, false]],
  ['the count was begun anew', [{ told: 9_000 }, { change: 9_001 }], [true, false]],
];

it.each(ROWS)('tells what was missed where %s', (_what, steps, expected) => {
  const numbers = createToldNumbers();
  numbers.begin(at(5));
  const isWhole = steps.map((step) =>
    'change' in step ? numbers.add('b00', step.change) : numbers.compare(numbers.last(), at(step.told)),
  );
  expect(isWhole).toEqual(expected);
});

it('does not miss a change that comes before what was told by then', () => {
  const numbers = createToldNumbers();
  numbers.add('b00', 6);
  numbers.begin(at(5));
  expect(numbers.add('b00', 7)).toBe(true);
});
