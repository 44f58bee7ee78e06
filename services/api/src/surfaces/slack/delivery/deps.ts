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

/** How long a call of the Web API may take, in ms. */
export const CALL_MS = 5_000;
/** How long one delivery follows a turn, in ms. Then any pod continues. */
export const SLICE_MS = 8_000;
/** For how long a delivery is handed to one pod, in ms. */
export const SLACK_LEASE_MS = SLICE_MS + 3 * CALL_MS;
/** For how long a delivery begins calls of the Web API, in ms. A call that it has begun ends before the lease does. */
export const DELIVERY_MS = SLACK_LEASE_MS - CALL_MS - 1_000;

/** What the deliveries to Slack need. */
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
   * A client of the Web API with this token. It does not wait by itself: deliveries are tried again by the outbox. Once
   * `isOver` is true, its calls throw `DeliveryOverError` and are not made.
   */
  readonly clientOf: (token: string, isOver?: () => boolean) => Promise<WebClient>;
  /** Address of the page on which an owner answers; nothing where the deployment has none. */
  readonly answerPageOf: (elicitationId: string) => string | undefined;
  readonly pod: string;
  readonly now: () => number;
  /** Called with every delivery that Slack refused for good. */
  readonly onRefused: (delivery: string, code: string) => void;
}
