/**
 * The type of the sentences of `why` in every language, and the type of the facts in them. The sentences themselves are in
 * `strings-en.ts` and `strings-de.ts`.
 */

import type { WebhookFault } from '../webhooks/webhook.ts';
import type { Moment } from './times.ts';

/** The reasons of withdrawals by Parley itself. */
export const OWN_REASONS = ['run_stopped', 'superseded', 'undeliverable', 'user_erased'] as const;

interface AskedValues {
  readonly name: string;
  readonly ago: number;
  readonly tool?: string | undefined;
  readonly state: 'pending' | 'opened' | 'ended';
}

interface TurnValues {
  readonly turn: string;
  readonly agent: string;
  readonly ago: number;
}

/**
 * The sentences of `why`, one for each code. A sentence gets facts as values and needs no other text, so each language words it
 * independently. `ago`, `ahead` and `length` are in ms.
 */
export interface WhyStrings {
  // Sentences about a record
  readonly asked: (values: AskedValues & { readonly trigger: string }) => string;
  readonly askedToApprove: (values: AskedValues) => string;
  readonly expires: (values: { readonly at: Moment; readonly ahead: number }) => string;
  readonly overdue: (values: { readonly ago: number }) => string;
  readonly expired: (values: { readonly length: number }) => string;
  readonly withdrawn: (values: {
    readonly length: number;
    readonly reason?: string | undefined;
    readonly own?: (typeof OWN_REASONS)[number] | undefined;
  }) => string;
  readonly decided: (values: {
    /** The status that the person's decision led to. */
    readonly decision: string;
    readonly name: string;
    readonly length: number;
    readonly surface?: string | undefined;
  }) => string;

  // Sentences about its person
  readonly noStream: (values: { readonly name: string }) => string;
  readonly streams: (values: { readonly name: string; readonly streams: readonly string[] }) => string;
  readonly noChannel: (values: { readonly channel: string }) => string;
  readonly notLinked: (values: { readonly name: string; readonly channel: string }) => string;
  /** `ahead` is 0 when the notice is due or was sent, and absent when none is due any more. */
  readonly linked: (values: {
    readonly name: string;
    readonly channel: string;
    readonly ahead?: number | undefined;
  }) => string;

  // Sentences about a turn
  readonly turn: (values: TurnValues & { readonly state: 'running' | 'stopping' }) => string;
  readonly turnEnded: (
    values: TurnValues & { readonly status: 'finished' | 'failed' | 'stopped'; readonly endedAgo: number },
  ) => string;
  readonly held: (values: { readonly pod: string; readonly isStopping: boolean }) => string;
  readonly orphaned: (values: { readonly pod: string }) => string;
  readonly queued: () => string;
  readonly detached: (values: { readonly restsUntil?: Moment | undefined }) => string;
  readonly detachedStopping: () => string;
  readonly podsDied: (values: { readonly count: number }) => string;
  readonly waits: (values: {
    readonly id: string;
    readonly trigger: string;
    readonly length: number;
    /** Absent when the awaited record has ended. */
    readonly openUntil?: Moment | undefined;
  }) => string;
  readonly waitEnded: () => string;
  readonly called: (values: { readonly tool: string; readonly ago: number }) => string;
  readonly delegated: (values: {
    readonly tool: string;
    readonly turn: string;
    readonly ago: number;
  }) => string;
  readonly more: (values: { readonly count: number; readonly what: 'waits' | 'calls' }) => string;
  readonly worksFor: (values: { readonly turn: string }) => string;

  // Sentences about deliveries; `attempts` counts the failed ones
  readonly delivering: (values: { readonly delivery: string; readonly attempts: number }) => string;
  readonly deliveryAhead: (values: {
    readonly delivery: string;
    readonly attempts: number;
    readonly ahead: number;
  }) => string;
  readonly deliveryDue: (values: { readonly delivery: string; readonly attempts: number }) => string;
  readonly deliveryDead: (values: {
    readonly delivery: string;
    readonly attempts: number;
    readonly ago: number;
    readonly fault: WebhookFault;
    readonly status?: number | undefined;
  }) => string;
}

/** One reason: the code of its sentence, and the values for it. */
export type Reason = {
  readonly [Code in keyof WhyStrings]: { readonly code: Code } & (Parameters<WhyStrings[Code]> extends [
    infer Values,
  ]
    ? Values
    : unknown);
}[keyof WhyStrings];
