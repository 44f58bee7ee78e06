import type { Bench } from '../bench.ts';
import { type Measurement, median, quantile, ratiosOf } from '../measurement.ts';
import { installPeers } from '../peers/install.ts';
import { type PeerServers, startPeerServers } from '../peers/servers/servers.ts';
import { type Fsync, PEERS, type Peer } from '../peers/table.ts';
import type { Variant } from '../processes/messages.ts';
import { type Racer, settleAcross } from '../processes/settle-across.ts';
import { startChild } from '../processes/start-child.ts';

const ROUNDS = 5;
const LOW = { count: 200, perSecond: 400 };
const FULL = { count: 3_000, underWay: 64 };
const STREAMS = 200;
const PATIENCE_MS = 120_000;

/** The engine on a Redis with each durability: where its answering process has never seen the question, and has shown it. */
type Engines = Readonly<Record<Fsync, readonly [unseen: Entrant, shown: Entrant]>>;

interface Entrant extends Racer {
  readonly name: string;
  readonly fullCount: number;
  /** Of the rounds after the first. */
  readonly p50: number[];
  readonly perSecond: number[];
  /** Why it left the race. */
  failure?: string;
}

interface PeerEntrant {
  readonly peer: Peer;
  readonly entrant?: Entrant;
  /** Why it could not take part. */
  readonly reason?: string;
}

/**
 * What somebody may use instead of Parley, doing the same: one process asks, another answers, and the first continues.
 * Every round runs the publish floor, the engine on a Redis with each durability, and every peer that can be had.
 */
export async function peers(bench: Bench): Promise<Measurement[]> {
  const missing = await installPeers(bench.progress).then(() => undefined, reasonOf);
  const servers = await startPeerServers(bench.progress);
  const entrants: Entrant[] = [];
  try {
    const floor = await enter('publish floor', 'publish', servers.redis.everysec);
    const enterEngines = async (fsync: Fsync) =>
      [
        await enter(`engine, AOF ${fsync}`, 'engine', servers.redis[fsync]),
        await enter(`engine that has shown the question, AOF ${fsync}`, 'shown', servers.redis[fsync]),
      ] as const;
    const engines = { everysec: await enterEngines('everysec'), always: await enterEngines('always') };
    const ours = Object.values(engines).flat();
    entrants.push(floor, ...ours);
    const found: PeerEntrant[] = [];
    for (const peer of PEERS) {
      const reason = peer.needsPackages ? missing : undefined;
      const opened = reason === undefined ? await enterPeer(peer, servers) : { peer, reason };
      bench.progress(`peers: ${peer.name} ${opened.reason ?? 'takes part'}`);
      if (opened.entrant !== undefined) entrants.push(opened.entrant);
      found.push(opened);
    }
    await runRounds(entrants, bench);
    return [
      ...[floor, ...ours].map(measurementOf),
      ...ours.map((engine) => ({
        what: `${engine.name}: p50 over the publish floor`,
        measured: 'ratio',
        ratios: ratiosOf(engine.p50, floor.p50),
      })),
      ...found.flatMap((each) => reportPeer(each, engines)),
    ];
  } finally {
    await Promise.all(entrants.flatMap(({ waiter, settler }) => [waiter.kill(), settler.kill()]));
    await servers.stop();
  }
}

async function enter(
  name: string,
  variant: Variant,
  address: string,
  peer?: Pick<Peer, 'module' | 'fullCount' | 'continuesInSettler'>,
): Promise<Entrant> {
  const waiter = await startChild(address, peer?.module);
  const settler = await startChild(address, peer?.module);
  return {
    name,
    variant,
    waiter,
    settler,
    streams: STREAMS,
    continuesInSettler: peer?.continuesInSettler ?? false,
    fullCount: peer?.fullCount ?? FULL.count,
    p50: [],
    perSecond: [],
  };
}

async function enterPeer(peer: Peer, servers: PeerServers): Promise<PeerEntrant> {
  try {
    return { peer, entrant: await enter(peer.name, 'peer', await peer.start(servers), peer) };
  } catch (error) {
    return { peer, reason: reasonOf(error) };
  }
}

/** Every entrant in turn, round by round. The first round warms the code up. */
async function runRounds(entrants: readonly Entrant[], bench: Bench): Promise<void> {
  const rounds = bench.scaled(ROUNDS, 1);
  for (let round = 0; round <= rounds; round += 1) {
    for (const entrant of entrants.filter(({ failure }) => failure === undefined)) {
      try {
        const { p50, perSecond } = await withinPatience(runRound(entrant, bench));
        bench.progress(`peers ${round}/${rounds} ${entrant.name}: p50 ${p50} us, ${Math.round(perSecond)}/s`);
        if (round === 0) continue;
        entrant.p50.push(p50);
        entrant.perSecond.push(perSecond);
      } catch (error) {
        entrant.failure = reasonOf(error);
        bench.progress(`peers ${round}/${rounds} ${entrant.name}: ${entrant.failure}`);
      }
    }
  }
}

async function runRound(entrant: Entrant, { scaled }: Bench) {
  const low = await settleAcross(entrant, scaled(LOW.count, 10), { perSecond: LOW.perSecond });
  const full = await settleAcross(entrant, scaled(entrant.fullCount, 20), { underWay: FULL.underWay });
  return { p50: quantile(low.latencies, 0.5), perSecond: full.perSecond };
}

/** Rejects when the work takes longer than a round can: a wake was lost, or a server hangs. */
async function withinPatience<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`A round was not over after ${PATIENCE_MS / 1_000} s.`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `not run: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`;
}

function measurementOf({ name, p50, perSecond, failure }: Entrant): Measurement {
  const measured = `p50 ${median(p50)} us, ${Math.round(median(perSecond))}/s`;
  return { what: name, measured: failure ?? measured };
}

function reportPeer({ peer, entrant, reason }: PeerEntrant, engines: Engines): Measurement[] {
  if (entrant === undefined || entrant.failure !== undefined) {
    return [{ what: peer.name, measured: reason ?? entrant?.failure ?? '' }];
  }
  return [
    measurementOf(entrant),
    ...engines[peer.beside].flatMap((engine) => [
      {
        what: `${peer.name}: p50 over the ${engine.name}`,
        measured: 'ratio',
        ratios: ratiosOf(entrant.p50, engine.p50),
      },
      {
        what: `${peer.name}: throughput over the ${engine.name}`,
        measured: 'ratio',
        ratios: ratiosOf(entrant.perSecond, engine.perSecond),
      },
    ]),
    { what: `${peer.name}: durability`, measured: peer.durability },
    { what: `${peer.name}: differs from Parley`, measured: peer.differs },
  ];
}
