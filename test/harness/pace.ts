/**
 * How much slower than the reference this machine was when the run began; `npm test` measures it. At least 1. Nothing is
 * measured when vitest is started by hand: a machine of half the pace must then do as well.
 */
export const PACE = Math.max(1, Number(process.env.PARLEY_TEST_PACE ?? 2));

/**
 * A limit of a wait, in ms, for this machine. Waits end when their condition holds, so that a long limit costs nothing:
 * it only decides when a wait has failed.
 */
export function paced(ms: number): number {
  return Math.round(ms * PACE);
}
