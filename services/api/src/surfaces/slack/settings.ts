/** The settings of the Slack app in the environment. */
export interface SlackSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
  /** Present for Socket Mode. Slack then needs no address of this deployment for events and interactions. */
  readonly appToken?: string;
  /** Slack's origin; `https://slack.com` except in tests. */
  readonly slackUrl: string;
  /** The origin under which browsers reach this deployment. */
  readonly publicUrl: string;
  /** The agent to which people talk; by default, the default agent. */
  readonly agent?: string;
  /** Workspaces and enterprises that may install the app; empty: all. */
  readonly teams: readonly string[];
  /** How long data about a turn is stored after its end, in ms. */
  readonly retentionMs: number;
}

/** The address of the Web API. */
export function apiUrlOf({ slackUrl }: Pick<SlackSettings, 'slackUrl'>): string {
  return `${slackUrl}/api/`;
}
