import { list, text } from './schemas.ts';

/** The settings of the Slack app (docs/slack.md). */
export const SLACK_VARIABLES = {
  PARLEY_SLACK_CLIENT_ID: text(
    'Client id of the Slack app. With it, the api serves `/slack`; the other secrets of the app, agents, PARLEY_PUBLIC_URL, PARLEY_VAULT_KEYS and PARLEY_CONNECT_IDENTITY `oidc` or `dev` are then required.',
  ),
  PARLEY_SLACK_CLIENT_SECRET: text('Client secret of the Slack app.'),
  PARLEY_SLACK_SIGNING_SECRET: text('Signing secret of the Slack app, by which its requests are verified.'),
  PARLEY_SLACK_APP_TOKEN: text(
    'App-level token with the scope `connections:write`. Each api then opens a WebSocket to Slack (Socket Mode), and Slack needs no address for events and interactions.',
  ),
  PARLEY_SLACK_AGENT: text('Agent that people talk to in Slack. Default: the default agent.'),
  PARLEY_SLACK_TEAMS: list(
    'Ids of the workspaces and enterprises that may install the app, comma separated. Default: any.',
  ),
  PARLEY_SLACK_URL: text(
    'Origin of Slack, for tests and for GovSlack (`https://slack-gov.com`). Default `https://slack.com`.',
  ),
};
