import type { DeliveryFacts, WhyFacts } from './facts.ts';
import { personReasons, recordReasons } from './record-reasons.ts';
import { runReasons } from './run-reasons.ts';
import { inWords } from './times.ts';

/**
 * Why something waits, or how it ended: sentences for an operator, the first ones about the thing itself. They name ids,
 * statuses and times, and hold nothing that a person or a model wrote. Total and pure.
 */
export function why({ now, record, run, person, deliveries }: WhyFacts): string[] {
  const name = person?.name ?? 'Nobody';
  const isOpen = record === undefined ? run?.status === 'running' : !record.hasEnded;
  const ofRun = run === undefined ? [] : runReasons(run, now);
  const ofPerson =
    person !== undefined && isOpen && (record !== undefined || hasOpenWait(run)) ? personReasons(person) : [];
  return [
    ...(record === undefined
      ? [...ofRun, ...ofPerson]
      : [...recordReasons(record, name, now), ...ofPerson, ...ofRun]),
    ...deliveries.map((delivery) => deliveryReason(delivery, now)),
  ];
}

function hasOpenWait(run: WhyFacts['run']): boolean {
  return run?.waits.some(({ openUntil }) => openUntil !== undefined) === true;
}

function deliveryReason(delivery: DeliveryFacts, now: number): string {
  const { kind, attempts } = delivery;
  const failed = attempts === 0 ? '' : `, after ${attempts} attempt${attempts === 1 ? '' : 's'} that failed`;
  if (delivery.state === 'dead') {
    const { lastError, lastStatus, diedAt } = delivery;
    const status = lastStatus === undefined ? '' : ` ${lastStatus}`;
    return `The delivery ${kind} was given up ${inWords(now - diedAt)} ago${failed}; the last one ended with ${lastError}${status}. Deliver it again once its receiver works.`;
  }
  if (delivery.isLeased) return `The delivery ${kind} is under way${failed}.`;
  return delivery.dueInMs > 0
    ? `The delivery ${kind} comes in ${inWords(delivery.dueInMs)}${failed}.`
    : `The delivery ${kind} is due${failed}: if it stays, no worker runs.`;
}
