/** Builds the Slack surface of a pod. What it does is in `surfaces/slack`. */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import type { Owner } from '@parley/core/domain/ids';
import { backendSettings, type Env } from '@parley/shared/config/env';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import { startDispatching } from '@parley/shared/delivery/dispatch-loop';
import { createRefresher } from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import { answerPath } from '../accounts/own-pages.ts';
import type { Drain } from '../http/life/drain.ts';
import type { Surface } from '../http/route.ts';
import { hasAnswerPage } from '../pages/answer/page-routes.ts';
import { linkRoutes } from '../pages/link/routes.ts';
import type { AuthPagesDeps } from '../pages/routes.ts';
import type { OperatedChannel } from '../surfaces/admin/deps.ts';
import { createSlackApp } from '../surfaces/slack/app.ts';
import { SLACK, SLACK_LEASE_MS } from '../surfaces/slack/delivery/deps.ts';
import { slackKind } from '../surfaces/slack/delivery/kind.ts';
import { slackRoutes } from '../surfaces/slack/http/routes.ts';
import { createVerifier } from '../surfaces/slack/http/signature.ts';
import type { ListenerDeps } from '../surfaces/slack/listeners/deps.ts';
import { createNames } from '../surfaces/slack/listeners/names.ts';
import { createSlackAccounts } from '../surfaces/slack/outside.ts';
import type { SlackSettings } from '../surfaces/slack/settings.ts';
import { startSocket } from '../surfaces/slack/socket.ts';
import { createInstallations } from '../surfaces/slack/store/installations.ts';
import { createLinks } from '../surfaces/slack/store/links.ts';
import { createSlackThreads } from '../surfaces/slack/store/threads.ts';
import { createSlackWeb } from '../surfaces/slack/web.ts';
import type { Turns } from '../turns/turns.ts';
import type { PodParts } from './pod-parts.ts';

interface SlackParts extends PodParts {
  readonly turns: Turns;
  /** The hosted pages, on which people are linked to Slack accounts. */
  readonly pages: AuthPagesDeps;
  readonly drain: Pick<Drain, 'hasBegun'>;
}

export interface WiredSlack {
  /** The surfaces. They must be mounted before the rest of `/auth`. */
  readonly surfaces: readonly Surface[];
  /** The Slack channel for the operators' console. */
  readonly channel: OperatedChannel;
  /** Ends the links of a person. */
  readonly unlink: (owner: Owner) => Promise<void>;
  /** The names of the delivery kinds of Slack. */
  readonly deliveryKinds: readonly string[];
  readonly close: () => Promise<void>;
}

/** Builds the Slack app of this pod. Undefined if none is configured. */
export function wireSlack(parts: SlackParts): WiredSlack | undefined {
  const { env, backend, engine, limits, log, turns, pages, drain } = parts;
  const settings = slackSettings(env, pages.publicUrl);
  if (settings === undefined) return undefined;
  const onFault = (err: unknown) => log.warn({ err: faultShown(err) }, 'a request of Slack failed');
  const web = createSlackWeb(settings);
  const vault = createVault({ store: backend.vault, keys: pages.keys });
  const records = backend.ownerRecords.slack;
  const links = createLinks(records);
  const installations = createInstallations({
    records,
    vault,
    links,
    fresh: createRefresher({ vault, leases: backend.vault }),
    refresh: web.refresh,
  });
  const keptMs = settings.retentionMs + TIMEOUT_SECONDS_MAX * 1_000;
  const places = createSlackThreads(records, keptMs);
  const accounts = createSlackAccounts({
    settings,
    store: backend.pages,
    links,
    installations,
    web,
    onFault,
  });
  const listeners: ListenerDeps = {
    settings,
    engine,
    turns,
    limits,
    names: createNames(),
    claims: backend.claims,
    links,
    places,
    installations,
    elicitations: engine.shown.elicitations,
    approvals: engine.shown.approvals,
    outbox: backend.outbox,
    clientOf: web.clientOf,
    answerPageOf: (id) => (hasAnswerPage(pages) ? `${settings.publicUrl}${answerPath(id)}` : undefined),
    pod: env.PARLEY_POD,
    now: Date.now,
    onRefused: (delivery, code) => log.warn({ delivery, code }, 'Slack refused a message'),
    keptMs,
    async follow(stream, place, forMs) {
      await places.putTurn(stream, place, forMs);
      await backend.subscriptions.add(stream, SLACK, forMs);
    },
    nudge: () => dispatching.nudge(),
    linkAddress: accounts.addressFor,
    isDraining: () => drain.hasBegun,
    onFault,
  };
  const { dispatch, dispatching } = startSlackDelivery(parts, listeners);
  const app = createSlackApp(listeners);
  const { appToken } = settings;
  const closeSocket = appToken && startSocket({ app, settings: { ...settings, appToken }, onFault });
  const verify = createVerifier({ ...settings, claims: backend.claims, now: Date.now });
  const install = {
    settings,
    installations,
    exchange: web.exchange,
    onInstalled: ({ teamId, enterpriseId }: InstalledTeam) =>
      log.info({ teamId, enterpriseId }, 'Slack app installed'),
    onFault,
  };
  return {
    surfaces: [slackRoutes({ app, verify, install, onFault }), linkRoutes(pages, accounts)],
    deliveryKinds: dispatch.kinds,
    channel: { name: SLACK, isLinked: async (owner) => (await links.of(owner)).length > 0 },
    unlink: links.removeOf,
    async close() {
      if (closeSocket) await closeSocket();
      await dispatching.stop();
    },
  };
}

interface InstalledTeam {
  readonly teamId?: string | undefined;
  readonly enterpriseId?: string | undefined;
}

/** Starts the deliveries of this pod to Slack. */
function startSlackDelivery({ backend: { outbox }, env, log }: SlackParts, listeners: ListenerDeps) {
  const dispatch = createDispatch({
    outbox,
    kinds: [slackKind(listeners)],
    leaseMs: SLACK_LEASE_MS,
    onFault: (err, kind) =>
      log.warn({ err: faultShown(err), kind }, 'a delivery failed; it will be tried again'),
  });
  const dispatching = startDispatching({
    outbox,
    dispatch,
    everyMs: env.PARLEY_OUTBOX_MS,
    onError: (err) => log.warn({ err }, 'the outbox could not be read; the next round retries'),
  });
  return { dispatch, dispatching };
}

/** Errors of Slack's clients contain requests and replies with people's texts, so only parts of them are shown. */
function faultShown(error: unknown): unknown {
  const { code, data } = error as { readonly code?: unknown; readonly data?: { readonly error?: unknown } };
  return typeof code === 'string' && code.startsWith('slack_') ? { code, reason: data?.error } : error;
}

function slackSettings(env: Env, publicUrl: string): SlackSettings | undefined {
  const {
    PARLEY_SLACK_CLIENT_ID: clientId,
    PARLEY_SLACK_CLIENT_SECRET: clientSecret,
    PARLEY_SLACK_SIGNING_SECRET: signingSecret,
    PARLEY_SLACK_APP_TOKEN: appToken,
    PARLEY_SLACK_AGENT: agent,
  } = env;
  if (clientId === undefined || clientSecret === undefined || signingSecret === undefined) return undefined;
  return {
    clientId,
    clientSecret,
    signingSecret,
    publicUrl,
    slackUrl: env.PARLEY_SLACK_URL ?? 'https://slack.com',
    teams: env.PARLEY_SLACK_TEAMS,
    retentionMs: backendSettings(env).retentionMs,
    ...(appToken !== undefined && { appToken }),
    ...(agent !== undefined && { agent }),
  };
}
