import { BOUNDS, BUCKETS, type Capacity, COSTS, type Load } from '../clients/cli/src/capacity/model.ts';

/** The result of a simulated installation. */
export interface Simulated {
  /** The load of the fullest master over the mean of all masters. */
  readonly fullestMaster: number;
  /** The share of its bounds to which the fullest master is used, by memory or by processor. */
  readonly fullestUse: number;
  /** The time from the death of a pod until all of its readers were back, in seconds. */
  readonly readersBackSeconds: number;
  /** The time from the death of a master until none of the asks that it delayed waited any more, in seconds. */
  readonly failoverSeconds: number;
}

const PER_PERSON = 20;
// The time until a Cluster calls a node dead, and the vote for its replica.
const FAILOVER_SECONDS = 5;
// A reader that is refused comes back after 1 to 10 s, and its refusal takes a tenth of an opening.
const BACK_SECONDS = 10;
const REFUSAL_SHARE = 0.1;
const STEP_SECONDS = 0.1;
const GIVEN_UP_SECONDS = 600;

/**
 * Steps through what a model can only sum up: people fall into buckets by chance, the readers of a dead pod all come at once and
 * are let in as the others have time, and the asks of a dead master pile up. The same numbers give the same result.
 */
export function simulate(load: Load, capacity: Capacity, seed = 1): Simulated {
  const fullest = fullestMaster(load, capacity, seed);
  const { redisCoreShare, redisMasterBytes } = BOUNDS;
  const perMaster = fullest / capacity.redisMasters;
  return {
    fullestMaster: fullest,
    fullestUse: Math.max(
      (capacity.redisCores * perMaster) / redisCoreShare,
      (capacity.redisBytes * perMaster) / redisMasterBytes,
    ),
    readersBackSeconds: storm(capacity, seed),
    failoverSeconds: failover(capacity, perMaster),
  };
}

function fullestMaster({ open }: Load, { redisMasters }: Capacity, seed: number): number {
  const random = createRandom(seed);
  const people = Math.max(1, Math.round(open / PER_PERSON));
  const loads = new Float64Array(redisMasters);
  for (let person = 0; person < people; person += 1) {
    const master = Math.floor(random() * BUCKETS) % redisMasters;
    loads[master] = (loads[master] ?? 0) + 1;
  }
  return (Math.max(...loads) * redisMasters) / people;
}

/** Every reader of one pod comes back at once. The other pods spend on openings what asks and turns leave of their cores. */
function storm({ pods, socketsOfPod, podCores }: Capacity, seed: number): number {
  const random = createRandom(seed);
  const left = pods - 1;
  const room = left * Math.max(0.1, 1 - podCores / left) * STEP_SECONDS;
  /** How many readers come in each step. */
  const coming = [socketsOfPod];
  let seconds = 0;
  for (let step = 0, outside = socketsOfPod; ; step += 1) {
    // Unused time does not carry over, and the refusals of the previous step are paid first.
    seconds = Math.min(seconds, 0) + room;
    for (let reader = coming[step] ?? 0; reader > 0; reader -= 1) {
      if (seconds >= COSTS.openingPodSeconds) {
        seconds -= COSTS.openingPodSeconds;
        outside -= 1;
        continue;
      }
      seconds -= COSTS.openingPodSeconds * REFUSAL_SHARE;
      const again = step + Math.ceil((1 + random() * (BACK_SECONDS - 1)) / STEP_SECONDS);
      coming[again] = (coming[again] ?? 0) + 1;
    }
    if (outside === 0) return (step + 1) * STEP_SECONDS;
    if (step * STEP_SECONDS > GIVEN_UP_SECONDS) return Number.POSITIVE_INFINITY;
  }
}

function failover({ redisCores }: Capacity, perMaster: number): number {
  const use = redisCores * perMaster;
  let waiting = use * FAILOVER_SECONDS;
  let seconds = FAILOVER_SECONDS;
  while (waiting > 0 && use < 1) {
    waiting -= (1 - use) * STEP_SECONDS;
    seconds += STEP_SECONDS;
  }
  return use < 1 ? seconds : Number.POSITIVE_INFINITY;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
