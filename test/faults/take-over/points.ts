import { beforeAll, expect, it } from 'vitest';
import { currentEvents } from '../../harness/history/run-case.ts';
import type { RunEvent } from '../../harness/history/run-events.ts';
import { prove } from '../../harness/load/size.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import { createAims, type Label } from '../../harness/run-points/aims.ts';
import { watchBookings } from '../../harness/run-points/bookings.ts';
import { judge } from '../../harness/run-points/final.ts';
import { LABELS } from '../../harness/run-points/labels.ts';
import { converse, newTalk, type Talk } from '../../harness/run-points/person.ts';
import type { RunHooks, RunSite } from '../../harness/run-points/site.ts';

const ROUNDS = isFullSize ? 3 : 1;
// Further conversations that run beside each one with a label, and may be killed at any point.
const COMPANIONS = isFullSize ? 3 : 0;
// Several slots kill each other's owners, as a soak should; a label that does not explain its owners is tried again.
const SLOTS = isFullSize ? 3 : 1;
// A try counts only when no label of another slot killed the run's owner as well; then the next one follows.
const TRIES = 12;

const POINTS = LABELS.filter(({ isDaily }) => isFullSize || isDaily);

const aims = createAims();
const bookings = watchBookings();
/** What sees the points, and kills there. */
export const POINT_HOOKS: RunHooks = { ...aims.hooks, ...bookings.hooks };
let site: RunSite;

interface Aimed {
  readonly label: Label;
  readonly talk: Talk;
  readonly fired: boolean;
}

let count = 0;

/** Runs conversations until the label has fired for one of them without another fault that would excuse its outcome. */
async function through(label: Label): Promise<Aimed[]> {
  const aimed: Aimed[] = [];
  for (let attempt = 0; attempt < TRIES && hits(aimed, label).length === 0; attempt += 1) {
    const companions = Array.from({ length: COMPANIONS }, () => aimedAt());
    const [own, ...others] = await Promise.all([aimedAt(label), ...companions]);
    aimed.push(own, ...others);
  }
  return aimed;

  async function aimedAt(set?: Label): Promise<Aimed> {
    count += 1;
    const talk = await newTalk(site, `point-${count}`);
    const hooks = set === undefined ? undefined : aims.set(site, talk, set);
    await converse(site, talk, hooks);
    return { label, talk, fired: hooks?.fired() ?? false };
  }
}

/**
 * Keeps conversations whose label fired, found the booking as it is for, and alone explains the owners: other labels kill
 * pods too, and a starved pod may be further than its label, or not as far, when the signal reaches it.
 */
function hits(aimed: readonly Aimed[], label: Label): readonly Aimed[] {
  const { booking, owners = 2 } = label;
  const isMet = ({ talk }: Aimed) =>
    booking === undefined || (countOwners(talk) === owners && bookings.outcomeOf(talk.name) === booking);
  return aimed.filter((one) => one.label === label && one.fired && isMet(one));
}

function findEvents({ name }: Talk) {
  return site.events.filter(
    (event): event is Exclude<RunEvent, { type: 'kill' }> =>
      event.type !== 'kill' && event.conversation === name,
  );
}

function countOwners(talk: Talk): number {
  return findEvents(talk).filter(({ type }) => type === 'term').length;
}

/** The outcome of the booking in the feed of a conversation. */
function bookedIn(talk: Talk) {
  const feed = findEvents(talk).flatMap((event) =>
    event.type === 'run-final' ? currentEvents(event.feed) : [],
  );
  return feed.find(({ call, outcome }) => call === 'book#1' && outcome !== undefined)?.outcome;
}

/** Tests of owners that die at a given point. */
export function killedAtPoints(the: () => RunSite): void {
  beforeAll(() => {
    site = the();
  });

  it('a pod is killed at any point of a run: another pod continues it, nothing is lost, and no event or effect is duplicated', async () => {
    const todo = Array.from({ length: ROUNDS }, () => POINTS).flat();
    const aimed: Aimed[] = [];
    const startedAt = performance.now();
    const slot = async () => {
      for (let label = todo.shift(); label !== undefined; label = todo.shift())
        aimed.push(...(await through(label)));
    };
    await Promise.all(Array.from({ length: SLOTS }, slot));
    const { ok, text, counts } = await judge(
      site,
      aimed.map(({ talk }) => talk),
    );
    const tookS = Math.round((performance.now() - startedAt) / 1000);
    prove(
      'Pods killed at every point of a run',
      `${POINTS.length} labels, ${aimed.filter(({ fired }) => fired).length} of them hit in ${tookS} s\n${text}`,
    );
    expect(ok, text).toBe(true);
    const untrue = aimed.filter(({ talk }) => bookedIn(talk) !== bookings.outcomeOf(talk.name));
    expect(untrue.map(({ label, talk }) => `${label.name}: ${talk.name} ${bookedIn(talk)}`)).toEqual([]);
    // Each label has met the state of the booking that it is for, so that no label goes unchecked.
    const missed = POINTS.filter((label) => hits(aimed, label).length < ROUNDS).map(({ name }) => name);
    expect(missed).toEqual([]);
    expect(counts.takenOver).toBeGreaterThan(POINTS.length / 2);
  });
}
