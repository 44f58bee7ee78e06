import { createMemoryBackend } from '@parley/shared/memory/backend';
import { onTestFinished } from 'vitest';
import type { SlackDeliveryDeps } from '../../../services/api/src/surfaces/slack/delivery/deps.ts';
import { createLinks } from '../../../services/api/src/surfaces/slack/store/links.ts';
import { createSlackThreads } from '../../../services/api/src/surfaces/slack/store/threads.ts';
import { createSlackWeb } from '../../../services/api/src/surfaces/slack/web.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { startSlack } from '../../harness/slack/slack.ts';

export const SETTINGS = {
  clientId: 'id',
  clientSecret: 'secret',
  signingSecret: 'signing',
  publicUrl: 'https://parley.example',
  teams: [],
  retentionMs: 60_000,
};

const TOKEN = 'xoxb-1';

/** What the Slack surface needs, on memory and against the stand-in of Slack. The clock may be set forward. */
export async function slackParts() {
  const backend = createMemoryBackend(ROOMY);
  const slack = await startSlack(SETTINGS);
  slack.tokens.set(TOKEN, { team: 'T1' });
  onTestFinished(async () => {
    await slack.stop();
    await backend.close();
  });
  const clock = { aheadMs: 0 };
  const refused: string[] = [];
  const engine = engineOn(backend);
  const web = createSlackWeb({ ...SETTINGS, slackUrl: slack.url });
  const deps: SlackDeliveryDeps = {
    elicitations: backend.elicitations,
    approvals: backend.approvals,
    engine,
    turns: { attend: () => () => undefined, isWaiting: async () => false },
    outbox: backend.outbox,
    installations: {
      find: async () => ({ name: 'Acme', botUserId: 'UBOT', botToken: TOKEN }),
      save: async () => undefined,
      forget: async () => undefined,
    },
    links: createLinks(backend.ownerRecords.slack),
    places: createSlackThreads(backend.ownerRecords.slack, 600_000),
    clientOf: web.clientOf,
    answerPageOf: () => undefined,
    pod: 'pod-1',
    now: () => Date.now() + clock.aheadMs,
    onRefused: (_, code) => refused.push(code),
  };
  return { backend, engine, slack, clock, deps, refused };
}
