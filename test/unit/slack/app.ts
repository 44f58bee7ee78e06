import { randomUUID } from 'node:crypto';
import { createSlackApp } from '../../../services/api/src/surfaces/slack/app.ts';
import type { ListenerDeps } from '../../../services/api/src/surfaces/slack/listeners/deps.ts';
import { createNames } from '../../../services/api/src/surfaces/slack/listeners/names.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { newTs } from '../../harness/slack/state.ts';
import { SETTINGS, slackParts } from './parts.ts';

/** The linked person in Slack. */
export const USER = { enterpriseId: 'E1', teamId: 'T1', userId: 'U1' };

/** The app, with a linked person, in an enterprise that has installed it for all of its workspaces. */
export async function appInEnterprise(more: Partial<ListenerDeps> = {}) {
  const parts = await slackParts();
  const { deps, engine, slack } = parts;
  const owner = newOwner();
  await deps.links.add(USER, owner);
  const all = {
    ...deps,
    claims: parts.backend.claims,
    engine,
    settings: { ...SETTINGS, slackUrl: slack.url },
    turns: {
      ...deps.turns,
      begin: () => Promise.reject(new Error('No turn begins in this test.')),
      admitToAgent: () => 'helper',
      stop: async () => false,
    },
    // A busy machine may take longer than Slack waits.
    names: createNames({ waitMs: 60_000 }),
    limits: { call: async () => undefined } as never,
    follow: async () => undefined,
    nudge: () => undefined,
    linkAddress: async () => 'https://parley.example/auth/link/one',
    isDraining: () => false,
    onFault: () => undefined,
    ...more,
  } as ListenerDeps;
  const app = createSlackApp(all);
  const event = (given: Record<string, unknown>, envelope: Record<string, unknown> = {}, pod = app) =>
    pod.process({
      type: 'event_callback',
      event_id: `Ev${randomUUID()}`,
      team_id: 'T1',
      enterprise_id: 'E1',
      authorizations: [{ team_id: 'T1', enterprise_id: 'E1', is_enterprise_install: true, user_id: 'UBOT' }],
      ...envelope,
      event: given,
    });
  const say = (text: string, given: Record<string, unknown> = {}, envelope = {}) =>
    event(
      {
        type: 'message',
        channel: 'D1',
        channel_type: 'im',
        user: 'U1',
        user_team: 'T1',
        text,
        ts: newTs(),
        ...given,
      },
      envelope,
    );
  return { ...parts, app, otherPod: createSlackApp(all), owner, event, say };
}

/** Turns of which only the begin is watched. */
export function turnsThatBegin(begun: (input: unknown) => void): ListenerDeps['turns'] {
  return {
    attend: () => () => undefined,
    isWaiting: async () => false,
    begin: async ({ input }) => {
      begun(input);
      return { isRepeat: false } as never;
    },
    admitToAgent: () => 'helper' as never,
    stop: async () => false,
  };
}
