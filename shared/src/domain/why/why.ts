import type { DeliveryFacts, WhyFacts } from './facts.ts';
import { personReasons, recordReasons } from './record-reasons.ts';
import { runReasons } from './run-reasons.ts';
import type { Reason, WhyStrings } from './strings.ts';
import { GERMAN_WHY } from './strings-de.ts';
import { ENGLISH_WHY } from './strings-en.ts';

const LANGUAGES = { en: ENGLISH_WHY, de: GERMAN_WHY } satisfies Readonly<Record<string, WhyStrings>>;

/** Why something waits, or how it ended, in sentences for an operator, in one language. Total and pure. */
export function why(facts: WhyFacts, language: keyof typeof LANGUAGES): string[] {
  return reasonsOf(facts).map((reason) => sentenceOf(reason, LANGUAGES[language]));
}

function sentenceOf(reason: Reason, strings: WhyStrings): string {
  // The code names the function that takes the other members.
  const say = strings[reason.code] as (values: Reason) => string;
  return say(reason);
}

/**
 * The same as facts, the first ones about the thing itself. They have ids, statuses and times, and nothing that a person
 * or a model wrote. Total and pure.
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
