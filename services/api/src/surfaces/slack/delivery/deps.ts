import type { Engine } from '@parley/shared/elicitations/engine';
import type { Outbox } from '@parley/shared/ports/delivery/outbox';
import type { SubscribingKind } from '@parley/shared/ports/delivery/subscriptions';
import type { Approvals, Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { WebClient } from '@slack/web-api';
import type { Turns } from '../../../turns/turns.ts';
import type { Installations } from '../store/installations.ts';
import type { Links } from '../store/links.ts';
import type { SlackThreads } from '../store/threads.ts';

/** Name of the delivery kind of Slack. */
export const SLACK = 'slack' satisfies SubscribingKind;

/** The time limit of a Web API call, in ms. */
export const CALL_MS = 5_000;
/** How long one delivery follows a turn, in ms. After that any pod continues. */
export const SLICE_MS = 8_000;
/** The lease of a delivery, in ms. */
export const SLACK_LEASE_MS = SLICE_MS + 3 * CALL_MS;
/** How long a delivery may begin Web API calls, in ms. A call that it has begun then ends before the lease does. */
export const DELIVERY_MS = SLACK_LEASE_MS - CALL_MS - 1_000;

/** The dependencies of deliveries to Slack. */
export interface SlackDeliveryDeps {
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly approvals: Pick<Approvals, 'read'>;
  readonly engine: Pick<Engine, 'replay' | 'watchLive' | 'notices'>;
  readonly turns: Pick<Turns, 'attend' | 'isWaiting'>;
  readonly outbox: Pick<Outbox, 'add'>;
  readonly installations: Installations;
  readonly links: Links;
  readonly places: SlackThreads;
  /**
   * A client of the Web API with this token. It never waits to retry, because the outbox repeats deliveries. Once `isOver`
   * returns true, its calls are not made and throw `DeliveryOverError`.
   */
  readonly clientOf: (token: string, isOver?: () => boolean) => Promise<WebClient>;
  /** Address of the page on which an owner answers; undefined if the deployment has none. */
  readonly answerPageOf: (elicitationId: string) => string | undefined;
  readonly pod: string;
  readonly now: () => number;
  /** Called for each delivery that Slack refused permanently. */
  readonly onRefused: (delivery: string, code: string) => void;
}
