/** The Slack app as the environment describes it. */
export interface SlackSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
  /** Present: Socket Mode. Slack then needs no address of this deployment for events and interactions. */
  readonly appToken?: string;
  /** Where Slack is, without a path; `https://slack.com` but in tests. */
  readonly slackUrl: string;
  /** Where browsers reach this deployment, without a path. */
  readonly publicUrl: string;
  /** The agent that people talk to; the default agent when absent. */
  readonly agent?: string;
  /** Workspaces and enterprises that may install the app; any when empty. */
  readonly teams: readonly string[];
  /** How long what belongs to a turn is kept after it, in ms. */
  readonly retentionMs: number;
}

/** Where the Web API is. */
export function apiUrlOf({ slackUrl }: Pick<SlackSettings, 'slackUrl'>): string {
  return `${slackUrl}/api/`;
}
