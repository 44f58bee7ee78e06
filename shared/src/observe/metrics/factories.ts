import type { Attributes } from '@opentelemetry/api';
import type { NamedMeter } from './named-meter.ts';

/** Makes the instruments of a process. All of them start at 0. */
export function instrumentFactories(meter: NamedMeter) {
  return {
    /** Makes a counter whose `labels` start at 0: a series that starts at 1 would hide its first increment from rate(). */
    counter<Labels extends Attributes = Record<never, never>>(
      name: string,
      description: string,
      labels: readonly Labels[] = [],
    ) {
      const counter = meter.counter<Labels>(name, { description });
      if (labels.length === 0) counter.add(0);
      for (const each of labels) counter.add(0, each);
      return counter;
    },
    upDown(name: string, description: string) {
      const counter = meter.upDown(name, { description });
      counter.add(0);
      return counter;
    },
    histogram<Labels extends Attributes = Record<never, never>>(
      name: string,
      description: string,
      explicitBucketBoundaries: number[],
    ) {
      return meter.histogram<Labels>(name, {
        description,
        unit: 's',
        advice: { explicitBucketBoundaries },
      });
    },
    gauge: meter.gauge,
  };
}
