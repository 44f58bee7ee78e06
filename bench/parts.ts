import type { Part } from './bench.ts';
import { cost } from './parts/cost.ts';
import { detached } from './parts/detached.ts';
import { fanout } from './parts/fanout.ts';
import { http } from './parts/http.ts';
import { memory } from './parts/memory.ts';
import { peers } from './parts/peers.ts';
import { profile } from './parts/profile.ts';
import { race } from './parts/race.ts';
import { runs } from './parts/runs.ts';
import { scale } from './parts/scale.ts';
import { silent } from './parts/silent.ts';
import { storm } from './parts/storm.ts';
import { streaming } from './parts/streaming.ts';
import { tenants } from './parts/tenants.ts';
import { timers } from './parts/timers.ts';

/** Every part of the bench, in the order in which they run. */
export const PARTS: Readonly<Record<string, Part>> = {
  race,
  http,
  cost,
  memory,
  timers,
  fanout,
  silent,
  storm,
  scale,
  tenants,
  streaming,
  runs,
  detached,
  profile,
};

/** Parts that run only when they are named: they install what the product does not need. */
export const NAMED_PARTS: Readonly<Record<string, Part>> = { peers };
