import type { DeliveryFacts, WhyFacts } from './facts.ts';
import { personReasons, recordReasons } from './record-reasons.ts';
import { runReasons } from './run-reasons.ts';
import type { Reason, WhyStrings } from './strings.ts';
import { GERMAN_WHY } from './strings-de.ts';
import { ENGLISH_WHY } from './strings-en.ts';

const LANGUAGES = { en: ENGLISH_WHY, de: GERMAN_WHY } satisfies Readonly<Record<string, WhyStrings>>;

/** Explains why something waits or how it ended, as sentences for an operator in one language. Total and pure. */
export function why(facts: WhyFacts, language: keyof typeof LANGUAGES): string[] {
  return reasonsOf(facts).map((reason) => sentenceOf(reason, LANGUAGES[language]));
}

function sentenceOf(reason: Reason, strings: WhyStrings): string {
  // The code selects the function whose parameter has this reason's values; TypeScript cannot follow that.
  const say = strings[reason.code] as (values: Reason) => string;
  return say(reason);
}

/**
 * The explanation as data, beginning with the record or turn itself. It contains ids, statuses and times, but nothing that a
 * person or a model wrote. Total and pure.
 */
export function reasonsOf({ now, record, run, person, deliveries }: WhyFacts): Reason[] {
  const isOpen = record === undefined ? run?.status === 'running' : !record.hasEnded;
  const ofRun = run === undefined ? [] : runReasons(run, now);
  const ofPerson =
    person !== undefined && isOpen && (record !== undefined || hasOpenWait(run)) ? personReasons(person) : [];
  return [
    ...(record === undefined
      ? [...ofRun, ...ofPerson]
      : [...recordReasons(record, now), ...ofPerson, ...ofRun]),
    ...deliveries.map((delivery) => deliveryReason(delivery, now)),
  ];
}

function hasOpenWait(run: WhyFacts['run']): boolean {
  return run?.waits.some(({ openUntil }) => openUntil !== undefined) === true;
}

function deliveryReason(facts: DeliveryFacts, now: number): Reason {
  const { kind: delivery, attempts } = facts;
  if (facts.state === 'dead') {
    const { lastError: fault, lastStatus: status, diedAt } = facts;
    return { code: 'deliveryDead', delivery, attempts, ago: now - diedAt, fault, status };
  }
  if (facts.isLeased) return { code: 'delivering', delivery, attempts };
  const { dueInMs: ahead } = facts;
  return ahead > 0
    ? { code: 'deliveryAhead', delivery, attempts, ahead }
    : { code: 'deliveryDue', delivery, attempts };
}
