import { createLeaveToAskers } from '@parley/shared/records/leave-to-askers';
import { expect, it } from 'vitest';

const LOOKS = 20;

it('records are left to a pod that says that it is at work, not for ever, and by one look of all buckets', async () => {
  let looks = 0;
  const leave = createLeaveToAskers(
    {
      isExpiring: async () => {
        looks += 1;
        return true;
      },
    },
    0,
  );
  const buckets = Array.from({ length: 64 }, () => leave());
  for (let look = 0; look < LOOKS; look += 1)
    expect(new Set(await Promise.all(buckets.map((isLeft) => isLeft())))).toEqual(new Set([true]));
  expect(looks).toBe(LOOKS);
  expect(await buckets[0]?.()).toBe(false);
  // A bucket whose job begins later is left as long.
  expect(await leave()()).toBe(true);
});
