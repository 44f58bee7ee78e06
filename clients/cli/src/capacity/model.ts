/**
 * The arithmetic of `parley capacity`: how many cores, bytes and pods a load needs. The measurements behind the constants are
 * in docs/reports/bench.md; input and output are in `commands/capacity.ts`.
 */

/** The load of an installation. */
export interface Load {
  /** Questions per second that are asked and answered. */
  readonly asks: number;
  /** Simultaneously open questions. */
  readonly open: number;
  /** How long ended records are kept, in seconds. */
  readonly retention: number;
  /** Simultaneously open event streams. */
  readonly streams: number;
  /** Detached turns that wait for their person without a pod. */
  readonly waitingTurns: number;
  /** Turns per second, each with one question. */
  readonly turns: number;
}

/** What the load requires. Processor time is in cores of the reference machine. */
export interface Capacity {
  readonly redisBytes: number;
  readonly redisCores: number;
  /** The number of masters; 1 means a single server, more mean a Cluster. */
  readonly redisMasters: number;
  /** False if even one master for each bucket cannot carry the load. */
  readonly fits: boolean;
  /** The load of the busiest master relative to the mean, because buckets cannot be divided evenly. */
  readonly fullestMaster: number;
  readonly podCores: number;
  readonly pods: number;
  /** The number of client connections of each pod. */
  readonly socketsOfPod: number;
  readonly bytesOfPod: number;
  /** The time until all readers of a dead pod have their streams again, in seconds. */
  readonly readersBackSeconds: number;
}

/** Costs measured by `npm run bench` (docs/reports/bench.md) on the reference machine: two cores of an AMD EPYC. */
export const COSTS = {
  /**
   * Bytes of Redis for an open question with a definition of about 300 bytes, an ended question, and a waiting turn with its
   * question.
   */
  openBytes: 1_600,
  endedBytes: 1_700,
  waitingTurnBytes: 11_600,
  /** Core seconds of Redis for an ask with its answer over HTTP, and for a turn with one question. */
  askRedisSeconds: 62e-6,
  turnRedisSeconds: 930e-6,
  silentStreamRedisSeconds: 0.09 * 10e-6,
  /** Core seconds of a pod for an ask with its answer, for a turn, and for opening a stream. */
  askPodSeconds: 0.25e-3,
  turnPodSeconds: 4e-3,
  openingPodSeconds: 1.4e-3,
  /** The share of a core that a silent stream takes. */
  silentStreamPodShare: 5.5e-6,
  /** Resident bytes of a pod without load, and of an open stream. */
  podBytes: 200e6,
  streamBytes: 22_000,
} as const;

/** How far a process may be used. The rest is for bursts, forks, and the load of a neighbour that died. */
export const BOUNDS = {
  redisCoreShare: 0.5,
  redisMasterBytes: 16e9,
  podCoreShare: 0.5,
  streamsOfPod: 10_000,
} as const;

/**
 * How readers come back after their pod died. A refused reader tries again after 1 to 10 s, so the last ones return up to 10 s
 * late.
 */
const STORM = { refusalShare: 0.1, meanBackSeconds: 5.5, lastBackSeconds: 10, oneWaveSeconds: 8 } as const;

/** The number of buckets. All data of one person is in one bucket, and a master serves whole buckets. */
export const BUCKETS = 64;

/** Computes the requirements of a load: the sum of its costs, divided by how far a process may be used. */
export function capacityFor(load: Load): Capacity {
  const ended = (load.asks + load.turns) * load.retention;
  const redisBytes =
    load.open * COSTS.openBytes + ended * COSTS.endedBytes + load.waitingTurns * COSTS.waitingTurnBytes;
  const redisCores =
    load.asks * COSTS.askRedisSeconds +
    load.turns * COSTS.turnRedisSeconds +
    load.streams * COSTS.silentStreamRedisSeconds;
  const podCores =
    load.asks * COSTS.askPodSeconds +
    load.turns * COSTS.turnPodSeconds +
    load.streams * COSTS.silentStreamPodShare;
  // One pod more than the load requires, and at least two, so that one may die.
  const pods =
    1 + Math.max(1, Math.ceil(podCores / BOUNDS.podCoreShare), Math.ceil(load.streams / BOUNDS.streamsOfPod));
  const needed = mastersFor(redisCores, redisBytes);
  const redisMasters = needed ?? BUCKETS;
  const streamsOfPod = load.streams / pods;
  return {
    redisBytes,
    redisCores,
    redisMasters,
    fits: needed !== undefined,
    fullestMaster: fullestMaster(redisMasters),
    podCores,
    pods,
    socketsOfPod: Math.ceil(streamsOfPod),
    bytesOfPod: COSTS.podBytes + streamsOfPod * COSTS.streamBytes,
    readersBackSeconds: readersBack(streamsOfPod, pods, podCores),
  };
}

/** The load of the master with the most buckets, relative to the mean. With more masters than buckets, the surplus is empty. */
export function fullestMaster(masters: number): number {
  return (Math.ceil(BUCKETS / masters) * masters) / BUCKETS;
}

/** The number of masters at which the busiest one is within its bounds; undefined if one for each bucket is too few. */
function mastersFor(cores: number, bytes: number): number | undefined {
  for (let masters = 1; masters <= BUCKETS; masters += 1) {
    const share = fullestMaster(masters) / masters;
    if (cores * share <= BOUNDS.redisCoreShare && bytes * share <= BOUNDS.redisMasterBytes) return masters;
  }
  return undefined;
}

/**
 * The time until the readers of a dead pod are back. The remaining pods open the streams with the idle time of their cores, of
 * which the repeated refusals of waiting readers take a part. If refusals take all of it, nobody comes back (Infinity).
 */
function readersBack(streamsOfPod: number, pods: number, podCores: number): number {
  if (streamsOfPod === 0) return 0;
  const left = pods - 1;
  const free = left * Math.max(0.1, 1 - podCores / left);
  const refusals = (STORM.refusalShare * COSTS.openingPodSeconds) / STORM.meanBackSeconds;
  // A refused reader succeeds at its next attempt, if the pods have enough idle time by then.
  const workSeconds = (streamsOfPod * COSTS.openingPodSeconds * (1 + STORM.refusalShare)) / free;
  if (workSeconds <= STORM.oneWaveSeconds) return STORM.lastBackSeconds;
  const taken = (streamsOfPod * refusals) / free;
  if (taken >= 1) return Number.POSITIVE_INFINITY;
  return STORM.oneWaveSeconds - (COSTS.openingPodSeconds / refusals) * Math.log(1 - taken);
}
