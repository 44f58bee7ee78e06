/** Whether every proof has its full size, as in `npm run soak`. The daily run has smaller ones. */
export const isFullSize = process.env.PARLEY_PROOF_SIZE === 'full';

/**
 * The size of a proof: `full` in a soak, else `daily`, which is a fifth unless it is given. Properties try new random
 * cases in every run, so that the daily runs add up.
 */
export function sized(full: number, daily = Math.ceil(full / 5)): number {
  return isFullSize ? full : daily;
}
