import type { WebhookFault } from '../webhooks/webhook.ts';
import type { Moment } from './times.ts';

/** Reasons that Parley gives itself when it takes a record back. */
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
 * What `why` says: one sentence for each code, from its values. The values are the facts, so that each language words
 * them alone. `ago`, `ahead` and `length` are in ms.
 */
export interface WhyStrings {
  // A record
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
    /** The status in which the person has settled it. */
    readonly decision: string;
    readonly name: string;
    readonly length: number;
    readonly surface?: string | undefined;
  }) => string;

  // Its person
  readonly noStream: (values: { readonly name: string }) => string;
  readonly streams: (values: { readonly name: string; readonly streams: readonly string[] }) => string;
  readonly noChannel: (values: { readonly channel: string }) => string;
  readonly notLinked: (values: { readonly name: string; readonly channel: string }) => string;
  /** `ahead` is absent where no notice is due any more, and 0 where it is due or was sent. */
  readonly linked: (values: {
    readonly name: string;
    readonly channel: string;
    readonly ahead?: number | undefined;
  }) => string;

  // A turn
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
    /** Absent where what it waits for has ended. */
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

  // What must still be delivered; `attempts` are those that failed
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

/** One reason: the code of its sentence and the values in it. */
export type Reason = {
  readonly [Code in keyof WhyStrings]: { readonly code: Code } & (Parameters<WhyStrings[Code]> extends [
    infer Values,
  ]
    ? Values
    : unknown);
}[keyof WhyStrings];
