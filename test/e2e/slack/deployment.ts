import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createSlackPerson, readable, type SlackPerson } from '../../harness/slack/person.ts';
import { type SlackStandIn, startSlack } from '../../harness/slack/slack.ts';
import type { SlackMessage } from '../../harness/slack/state.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { meet, type Person } from '../connect/person.ts';
import { startWorld, type World } from '../connect/world.ts';

export const APP = {
  clientId: 'slack-app',
  clientSecret: 'slack-client-secret',
  signingSecret: 'slack-signing-secret',
  appToken: 'xapp-1-A1-1-a',
};

/** Three pods with the app, the stand-in of Slack, and the people in it. */
export interface SlackDeployment {
  readonly world: World;
  readonly slack: SlackStandIn;
  /** Goes through the installation as an administrator's browser does. Returns the last page. */
  install(team: string, enterprise?: string): Promise<string>;
  /** A person in Slack, whose actions reach the app over HTTP or Socket Mode. */
  inSlack(
    user: string,
    team?: string,
    installedIn?: string,
    enterprise?: string,
    isSocketMode?: boolean,
  ): SlackPerson;
  /** A person in Slack, linked to a person of the deployment in a browser that is signed in to both. */
  linked(
    user: string,
    team?: string,
    enterprise?: string,
  ): Promise<{ readonly person: SlackPerson; readonly web: Person }>;
  /** The messages of a thread with this text. */
  inThread(thread: string, text: RegExp): SlackMessage[];
  /** The link that connects accounts, in the messages of a channel. */
  addressIn(channel: string): string | undefined;
  /** Kills the pods from which the first edits of these messages come, once all have come and before any is made. Returns how many. */
  killThoseThatEdit(messages: readonly string[]): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a deployment that nobody has installed the app of. */
export async function startSlackDeployment(): Promise<SlackDeployment> {
  const slack = await startSlack(APP);
  const world = await startWorld({
    hasUsers: true,
    more: () => ({
      PARLEY_SLACK_CLIENT_ID: APP.clientId,
      PARLEY_SLACK_CLIENT_SECRET: APP.clientSecret,
      PARLEY_SLACK_SIGNING_SECRET: APP.signingSecret,
      PARLEY_SLACK_APP_TOKEN: APP.appToken,
      PARLEY_SLACK_URL: slack.url,
      PARLEY_SLACK_AGENT: 'brisk',
      // Each look asks Redis for 64 parts, which was half of what the pods did. What is asked goes out at once, without a look.
      PARLEY_OUTBOX_MS: '2000',
      PARLEY_SWEEP_MS: '1000',
      // Many requests come from one address.
      PARLEY_LIMIT_CONNECT_FORMS: '100000',
      PARLEY_LIMIT_CONNECT_FAILURES: '100000',
    }),
  });

  async function install(team: string, enterprise?: string): Promise<string> {
    slack.signedIn = { team, user: 'UADMIN', ...(enterprise !== undefined && { enterprise }) };
    const first = await fetch(`${world.url}/slack/install`, { redirect: 'manual' });
    const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const back = await fetch(first.headers.get('location') ?? '', { redirect: 'manual' });
    const last = await fetch(back.headers.get('location') ?? '', { headers: { cookie } });
    return last.text();
  }

  function inSlack(
    user: string,
    team = 'T1',
    installedIn = team,
    enterprise?: string,
    isSocketMode = false,
  ): SlackPerson {
    return createSlackPerson(
      { slack, url: world.url, signingSecret: APP.signingSecret, isSocketMode },
      { team, user, installedIn, ...(enterprise !== undefined && { enterprise }) },
    );
  }

  async function linked(user: string, team = 'T1', enterprise?: string) {
    const person = inSlack(user, team, team, enterprise);
    const web = await meet(world);
    await person.say('hello');
    const url = await waitUntil(() => addressIn(person.channel), { what: 'the link' });
    await web.browser.enter(url, web.userId);
    slack.signedIn = { team, user };
    const shown = await web.browser.submit(await web.browser.open(url), 'start');
    const back = await fetch(shown.link ?? '', { redirect: 'manual' });
    const done = await web.browser.open(back.headers.get('location') ?? '');
    if (!done.heading.includes('Slack is connected')) throw new Error(`not linked: ${done.heading}`);
    return { person, web };
  }

  function inThread(thread: string, text: RegExp) {
    return slack.messages.filter((one) => one.thread_ts === thread && text.test(readable(one)));
  }

  function killThoseThatEdit(messages: readonly string[]): Promise<number> {
    const editors = new Map<string, number>();
    return new Promise((resolve) => {
      slack.onCall = async (method, from, { ts }) => {
        if (method !== 'chat.update' || !messages.includes(String(ts))) return;
        editors.set(String(ts), from);
        await waitUntil(() => editors.size === messages.length, { what: 'the other edits' });
        if (slack.onCall === undefined) return;
        slack.onCall = undefined;
        const ports = [...editors.values()];
        const victims = world.pods.filter(({ pid }) => ports.some((port) => holdsPort(pid, port)));
        slack.setDown(true);
        for (const victim of victims) victim.kill('SIGKILL');
        await Promise.all(victims.map(({ exited }) => exited));
        slack.setDown(false);
        resolve(victims.length);
      };
    });
  }

  function addressIn(channel: string): string | undefined {
    const texts = slack.messages.filter((one) => one.channel === channel).map(readable);
    return /"url":"([^"]*\/auth\/link\/[^"]*)"/.exec(texts.join(' '))?.[1];
  }

  return {
    world,
    slack,
    install,
    inSlack,
    linked,
    inThread,
    addressIn,
    killThoseThatEdit,
    async stop() {
      await world.stop();
      await slack.stop();
    },
  };
}

/** True when the process has a connection from this local port. */
function holdsPort(pid: number, port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const inodes = lines.flatMap((line) => {
    const [, local = '', , , , , , , , inode = ''] = line.trim().split(/\s+/);
    return local.endsWith(`:${hex}`) ? [`socket:[${inode}]`] : [];
  });
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return inodes.includes(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}
