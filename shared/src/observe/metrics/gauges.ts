import { within } from '../../async/time-limit.ts';
import type { NamedMeter } from './named-meter.ts';

/** Returns a gauge's value for a scrape. Undefined, an error, or no value within a second is exported as NaN. */
type GaugeSource = () => number | undefined | Promise<number | undefined>;

/** The sources of the gauges. Values are numbers of elicitations, or seconds. */
export interface GaugeSources {
  readonly pending?: GaugeSource;
  readonly overdue?: GaugeSource;
  readonly indexCheckAge?: GaugeSource;
  readonly timerCanaryAge?: GaugeSource;
  readonly outboxLag?: GaugeSource;
}

const GAUGE_MS_MAX = 1_000;

/** Makes the gauges. The returned function sets their sources; a gauge without a source is NaN. */
export function observeGauges(gauge: NamedMeter['gauge']): (sources: GaugeSources) => void {
  const known: { -readonly [Name in keyof GaugeSources]: GaugeSources[Name] } = {};
  const gauges = [
    ['pending', 'elicitation_pending', 'Open questions in Redis.', ''],
    ['overdue', 'elicitation_overdue', 'Since the earliest deadline of the open questions passed.', 's'],
    ['indexCheckAge', 'index_check_age', 'Since the last complete check of the indexes began.', 's'],
    ['timerCanaryAge', 'timer_canary_age', 'Since a canary timer last went through the queue.', 's'],
    ['outboxLag', 'outbox_lag', 'Time since the oldest outbox task that is not yet taken was due.', 's'],
  ] as const;
  for (const [source, name, description, unit] of gauges) {
    // Without a new observation, the reader would export the previous value again.
    gauge(name, { description, unit }, async () => (await readGauge(known[source])) ?? Number.NaN);
  }
  return (sources) => {
    Object.assign(known, sources);
  };
}

async function readGauge(source: GaugeSource | undefined): Promise<number | undefined> {
  return within(GAUGE_MS_MAX, (async () => source?.())()).catch(() => undefined);
}
