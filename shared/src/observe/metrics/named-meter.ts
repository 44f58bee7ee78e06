import type { Attributes, Meter, MetricOptions } from '@opentelemetry/api';

/** `prefixed`: names with `parley_` and their units. `both`: also the names of earlier builds, without prefix and unit. */
export const METRIC_NAMES = ['both', 'prefixed'] as const;
export type MetricNames = (typeof METRIC_NAMES)[number];

/** A counter that counts under all its names. */
export interface NamedCounter<Labels extends Attributes> {
  add(value: number, labels?: Labels): void;
}

/** A histogram that records under all its names. */
export interface NamedHistogram<Labels extends Attributes> {
  record(value: number, labels?: Labels): void;
}

/** Makes instruments from their short names, without prefix and unit, and exposes them under the configured names. */
export interface NamedMeter {
  counter<Labels extends Attributes>(name: string, options: MetricOptions): NamedCounter<Labels>;
  upDown(name: string, options: MetricOptions): NamedCounter<Attributes>;
  histogram<Labels extends Attributes>(name: string, options: MetricOptions): NamedHistogram<Labels>;
  /** `read` is called once for each scrape. */
  gauge(name: string, options: MetricOptions, read: () => Promise<number>): void;
}

/** Makes instruments on an OpenTelemetry meter. */
export function createNamedMeter(meter: Meter, names: MetricNames): NamedMeter {
  function exposed(name: string, { unit }: MetricOptions): readonly string[] {
    const full = `parley_${name}${unit === 's' ? '_seconds' : ''}`;
    return names === 'both' ? [full, name] : [full];
  }

  return {
    counter<Labels extends Attributes>(name: string, options: MetricOptions): NamedCounter<Labels> {
      const counters = exposed(name, options).map((one) => meter.createCounter<Labels>(one, options));
      return {
        add(value, labels) {
          for (const counter of counters) counter.add(value, labels);
        },
      };
    },
    upDown(name, options) {
      const counters = exposed(name, options).map((one) => meter.createUpDownCounter(one, options));
      return {
        add(value, labels) {
          for (const counter of counters) counter.add(value, labels);
        },
      };
    },
    histogram<Labels extends Attributes>(name: string, options: MetricOptions): NamedHistogram<Labels> {
      const histograms = exposed(name, options).map((one) => meter.createHistogram<Labels>(one, options));
      return {
        record(value, labels) {
          for (const histogram of histograms) histogram.record(value, labels);
        },
      };
    },
    gauge(name, options, read) {
      const gauges = exposed(name, options).map((one) => meter.createObservableGauge(one, options));
      meter.addBatchObservableCallback(async (result) => {
        const value = await read();
        for (const gauge of gauges) result.observe(gauge, value);
      }, gauges);
    },
  };
}
