import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkHistory } from '../harness/history/check-history.ts';
import { formatReport } from '../harness/history/report.ts';
import { compare, formatComparisons, RATIO_MAX, reportAbuse } from '../harness/load/abuse/abuse-report.ts';
import {
  ABUSE_ENV,
  ABUSE_SIZE,
  type AbuseParties,
  type AbuseRun,
  runAbuse,
  startAbuseParties,
} from '../harness/load/abuse/abuse-run.ts';
import { expectedReplies } from '../harness/load/abuse/attacks.ts';
import { SIZE } from '../harness/load/size.ts';
import { paced } from '../harness/pace.ts';
import { sized } from '../harness/proof-size.ts';
import { DEFAULTS, openSiteInMemory, type Site } from '../harness/site/site.ts';

// Pods of its own: other loads exceed the limits that this one is about.
let site: Site;
let parties: AbuseParties;

beforeAll(async () => {
  // A slow disk would delay all writes, with abuse and without.
  [site, parties] = await Promise.all([openSiteInMemory(), startAbuseParties()]);
});
afterAll(async () => {
  await site?.stop();
  await parties?.stop();
});

describe('an abusive user and an abusive service key of another tenant', () => {
  let run: AbuseRun;
  beforeAll(
    async () => {
      const env = { ...DEFAULTS, ...ABUSE_ENV, PARLEY_CONFIG: parties.config };
      const worker = await site.worker(env);
      const pods = await Promise.all(Array.from({ length: sized(3, 2) }, () => site.pod(env)));
      run = await runAbuse({ pods, worker, redisPid: site.redis.pid, parties, ...ABUSE_SIZE });
      const history = checkHistory(run.ordinary.history.events, { graceMs: paced(20_000) });
      reportAbuse(run, history);
    },
    SIZE.abuseMinutes * 60_000 + 20 * 60_000,
  );

  it('leave everyone else unharmed: no refusal, no error, and nothing lost', () => {
    const { ordinary } = run;
    expect(ordinary.refusals).toEqual([]);
    if (SIZE.full) expect(ordinary.late).toEqual([]);
    expect(ordinary.faults).toEqual([]);
    expect(ordinary.counts.finished).toBe(ordinary.counts.begun);
    const history = checkHistory(ordinary.history.events, { graceMs: paced(20_000) });
    expect(history.violations, formatReport(history)).toEqual([]);
  });

  it.each(['user', 'key'] as const)(
    'the %s is refused with the code of each limit, and with a 5xx only where Redis is late',
    (mode) => {
      const replies = run.replies[mode];
      const missing = expectedReplies(mode).filter(
        ([attack, reply]) => replies[attack]?.[reply] === undefined,
      );
      expect(missing).toEqual([]);
      const codes = new Set(Object.values(replies).flatMap((counts) => Object.keys(counts)));
      const isRight = (code: string) =>
        !code.startsWith('5') || code === '503 pod_busy' || code === '503 unavailable';
      expect([...codes].filter((code) => !isRight(code))).toEqual([]);
      // A busy machine keeps Redis from replying in time, but seldom.
      for (const [attack, { '503 unavailable': late = 0, ...others }] of Object.entries(replies)) {
        const all = Object.values(others).reduce((sum, count) => sum + count, late);
        expect(late, attack).toBeLessThanOrEqual(SIZE.full ? 0 : all / 20);
      }
    },
  );

  // A daily run has too few samples for a 99th percentile, and it shares the processors: only `npm run soak` judges it.
  if (SIZE.full)
    it.each(['user', 'key'] as const)(
      'the %s leaves the latency of everyone else at most doubled',
      (mode) => {
        const slower = compare(run).filter(({ ratio }) => ratio[mode] > RATIO_MAX);
        expect(formatComparisons(slower), 'operations whose p99 more than doubles').toBe(
          formatComparisons([]),
        );
      },
    );
});
