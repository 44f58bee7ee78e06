/** What an installation has to carry. */
export interface Load {
  /** Questions a second that are asked and answered. */
  readonly asks: number;
  /** Questions that are open at once. */
  readonly open: number;
  /** How long what has ended is kept, in seconds. */
  readonly retention: number;
  /** Event streams that are open at once. */
  readonly streams: number;
  /** Turns that wait for their person at once, without a pod. */
  readonly waitingTurns: number;
  /** Turns a second, each with one question. */
  readonly turns: number;
}

/** What the load needs. Processor time is in cores of the reference machine. */
export interface Capacity {
  readonly redisBytes: number;
  readonly redisCores: number;
  /** Masters of a Cluster; 1 is a single server. */
  readonly redisMasters: number;
  /** False where even one master for each bucket cannot carry the load. */
  readonly fits: boolean;
  /** The load of the fullest master over the mean of all, by the buckets that lie on it. */
  readonly fullestMaster: number;
  readonly podCores: number;
  readonly pods: number;
  /** Connections of clients that each pod holds. */
  readonly socketsOfPod: number;
  readonly bytesOfPod: number;
  /** The time until all readers of a pod that died have their streams again, in seconds. */
  readonly readersBackSeconds: number;
}

/** Costs, as `npm run bench` measures them (docs/reports/bench.md), on the reference machine: two cores of an AMD EPYC. */
export const COSTS = {
  /** Bytes of Redis: an open question with a definition of about 300 bytes; one that has ended; a waiting turn with its question. */
  openBytes: 1_600,
  endedBytes: 1_700,
  waitingTurnBytes: 11_600,
  /** Seconds of a core of Redis: an ask and its answer over HTTP; a turn with one question. */
  askRedisSeconds: 62e-6,
  turnRedisSeconds: 930e-6,
  silentStreamRedisSeconds: 0.09 * 10e-6,
  /** Seconds of a core of a pod: an ask and its answer; a turn; the opening of a stream. */
  askPodSeconds: 0.25e-3,
  turnPodSeconds: 4e-3,
  openingPodSeconds: 1.4e-3,
  /** The share of a core that each stream takes on which nothing happens. */
  silentStreamPodShare: 5.5e-6,
  /** Resident bytes: a pod without load; an open stream. */
  podBytes: 200e6,
  streamBytes: 22_000,
} as const;

/** How far a process is filled: the rest is for bursts, forks and the load of a neighbour that died. */
export const BOUNDS = {
  redisCoreShare: 0.5,
  redisMasterBytes: 16e9,
  podCoreShare: 0.5,
  streamsOfPod: 10_000,
} as const;

/** How readers come back: a refused reader tries again after 1 to 10 s, and the last readers were refused shortly before. */
const STORM = { refusalShare: 0.1, meanBackSeconds: 5.5, lastBackSeconds: 10, oneWaveSeconds: 8 } as const;

/** The number of buckets: everything of one person lies in one bucket, and a master serves whole buckets. */
export const BUCKETS = 64;

/** What a load needs: a sum of costs, divided by how far a process is filled. */
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
  // There is one pod more than the load takes, and two at least, so that one may die.
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

/** The load of the master with the most buckets over the mean. Beyond one master for each bucket, further masters are empty. */
export function fullestMaster(masters: number): number {
  return (Math.ceil(BUCKETS / masters) * masters) / BUCKETS;
}

/** How many masters it takes until the fullest one is within its bounds; undefined where one master for each bucket is too few. */
function mastersFor(cores: number, bytes: number): number | undefined {
  for (let masters = 1; masters <= BUCKETS; masters += 1) {
    const share = fullestMaster(masters) / masters;
    if (cores * share <= BOUNDS.redisCoreShare && bytes * share <= BOUNDS.redisMasterBytes) return masters;
  }
  return undefined;
}

/**
 * The remaining pods open the streams of the pod that died, with the idle time of their cores. While readers wait, their repeated
 * refusals take a part of that time. Where refusals take all of it, nobody comes back (Infinity).
 */
function readersBack(streamsOfPod: number, pods: number, podCores: number): number {
  if (streamsOfPod === 0) return 0;
  const left = pods - 1;
  const free = left * Math.max(0.1, 1 - podCores / left);
  const refusals = (STORM.refusalShare * COSTS.openingPodSeconds) / STORM.meanBackSeconds;
  // Readers that are refused at first get in at their next attempt, where the pods have enough idle time by then.
  const workSeconds = (streamsOfPod * COSTS.openingPodSeconds * (1 + STORM.refusalShare)) / free;
  if (workSeconds <= STORM.oneWaveSeconds) return STORM.lastBackSeconds;
  const taken = (streamsOfPod * refusals) / free;
  if (taken >= 1) return Number.POSITIVE_INFINITY;
  return STORM.oneWaveSeconds - (COSTS.openingPodSeconds / refusals) * Math.log(1 - taken);
}
