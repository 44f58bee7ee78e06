/**
 * The pages of the documentation in the order of the site, as data: the site's sidebar, the list in README.md and
 * llms.txt are made from it. How pages are built is not here, and no page has its text here.
 */
export interface SitePage {
  /** The source in the repository. */
  readonly path: string;
  /** Its name in lists. */
  readonly title: string;
  /** What a reader finds there, as a part of a sentence. */
  readonly about: string;
}

export interface SiteGroup {
  readonly title: string;
  readonly pages: readonly SitePage[];
  /** Whether the list in README.md leaves the group to the site and to the folder. */
  readonly isForContributors?: true;
}

/** Folders whose pages are all listed, under the heading that each file has. */
export const LISTED_FOLDERS = [
  { title: 'Reports', folder: 'docs/reports' },
  { title: 'Decisions', folder: 'docs/decisions' },
] as const;

function page(path: string, title: string, about: string): SitePage {
  return { path, title, about };
}

/** Every page outside of the listed folders, each once. */
export const NAVIGATION: readonly SiteGroup[] = [
  {
    title: 'Start',
    pages: [
      page('README.md', 'What Parley is', 'what one gets, and the commands that run it'),
      page('docs/getting-started.md', 'Getting started', 'from an empty folder to a question in a chat page'),
      page(
        'docs/concepts.md',
        'Concepts',
        'questions, answers, turns, runs, owners and reach, with a diagram',
      ),
      page(
        'docs/tutorial.md',
        'Tutorial',
        'your own MCP server and identity provider behind a chat that asks people to connect',
      ),
      page(
        'examples/README.md',
        'Examples',
        'programs to copy: chats, a page, services, agents of frameworks',
      ),
      page('docs/recipes.md', 'Recipes', 'what to use for a task, one row a task'),
    ],
  },
  {
    title: 'Ask from a program',
    pages: [
      page('clients/sdk/README.md', 'TypeScript client', 'ask, wait and answer from TypeScript'),
      page('clients/python/README.md', 'Python client', 'ask, wait and answer from Python'),
      page(
        'docs/handlers.md',
        'Handlers',
        'ask through Parley, an MCP client, an editor or a terminal, whichever there is',
      ),
      page('docs/workflows.md', 'Workflows', 'programs that ask as they go, and continue after a restart'),
      page(
        'docs/webhooks.md',
        'Webhooks',
        'notifications instead of waiting: signatures, retries, dead letters',
      ),
      page(
        'docs/cli.md',
        'Command line',
        '`parley`: ask and answer in a terminal, run a server for development, keep secrets',
      ),
    ],
  },
  {
    title: 'Run agents',
    pages: [
      page('docs/agents.md', 'Agents', 'the YAML file of agents, tools, accounts and delegation'),
      page(
        'docs/approvals.md',
        'Approvals',
        'tool calls that a person approves, edits or denies before they are made',
      ),
      page('docs/mcp-servers.md', 'MCP servers', 'MCP servers that ask people during their calls'),
      page('docs/connect.md', 'Connect pages', 'the pages on which people connect an account'),
      page(
        'docs/reach.md',
        'Reach',
        'how a question reaches its person: in the client, on a page, or not at all',
      ),
    ],
  },
  {
    title: 'Show questions',
    pages: [
      page(
        'docs/widget.md',
        'Widget',
        'custom elements that show a question or all open questions on any page',
      ),
      page('docs/chat-transport.md', 'Chats with useChat', '`useChat` with Parley: reconnecting to a turn'),
      page(
        'docs/ai-sdk-provider.md',
        'AI SDK provider',
        'agents as models of the AI SDK, and a helper with which pages handle questions',
      ),
      page('docs/slack.md', 'Slack', 'Slack: chat, questions, notices; how to install the app'),
    ],
  },
  {
    title: 'Other protocols',
    pages: [
      page('docs/mcp-server.md', 'MCP', 'agents as tools of MCP clients'),
      page('docs/a2a.md', 'A2A', 'agents for clients of A2A, and remote A2A agents'),
      page('docs/ag-ui.md', 'AG-UI', 'agents for clients of AG-UI: runs, interrupts, coming back'),
      page('docs/acp.md', 'ACP', 'agents in editors that speak the Agent Client Protocol'),
      page(
        'docs/compatibility.md',
        'Compatibility',
        'clients and servers of others: which versions were driven, and what worked',
      ),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('docs/configuration.md', 'Configuration', 'every environment variable, in groups'),
      page('docs/http-api.md', 'HTTP API', 'every call, status and event'),
      page('docs/errors.md', 'Errors', 'every error by its code, and what to do'),
      page('docs/glossary.md', 'Glossary', 'the words that have a sense of their own here'),
      page('docs/redis.md', 'Redis', 'the keys in Redis, and how to inspect them with redis-cli'),
      page('clients/widget/README.md', '@parley/widget', 'the package of the custom elements'),
      page('clients/core/README.md', '@parley/core', 'what the TypeScript clients share'),
      page('clients/cli/README.md', '@parley/cli', 'the command `parley` as a package'),
      page('services/server/README.md', '@parley/server', 'the api with the worker as a package'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page(
        'docs/operations.md',
        'Operations',
        'deployment (Compose, Kubernetes, Helm), the console, monitoring, repair',
      ),
      page('docs/capacity.md', 'Capacity', 'what a load needs of Redis and of pods'),
      page('docs/security.md', 'Security', 'identities, limits, stored data and its retention'),
      page('SECURITY.md', 'Vulnerabilities', 'how to report a vulnerability'),
    ],
  },
  {
    title: 'Compare',
    pages: [
      page('docs/compare.md', 'Parley beside others', 'what other tools do better, and what Parley does'),
      page('docs/faq.md', 'Questions and answers', 'short answers to what people ask first'),
      page('CHANGELOG.md', 'Changes', 'what has changed in each version'),
    ],
  },
  {
    title: 'Contribute',
    isForContributors: true,
    pages: [
      page('CONTRIBUTING.md', 'Contributing', 'how to change Parley'),
      page('docs/architecture.md', 'Architecture', 'the structure of the code, and its reasons'),
      page('docs/testing.md', 'Testing', 'which tests to run when, and what they may judge'),
      page('docs/review.md', 'Review', 'what reviews found again and again'),
      page('docs/releasing.md', 'Releasing', 'the packages, their checks, and how a version is made'),
      page('docs/planted-defects.md', 'Planted defects', 'defects that the tests must find'),
      page('docs/mcp-normative.md', 'Requirements of MCP', 'each requirement, and the tests that hold it'),
      page('docs/a2a-normative.md', 'Requirements of A2A', 'each requirement, and the tests that hold it'),
      page('docs/acp-normative.md', 'Requirements of ACP', 'each requirement, and the tests that hold it'),
    ],
  },
];

/** Where the page of a source is on the site, without an ending. README.md is its front page. */
export function sitePathOf(source: string): string {
  if (source === 'README.md') return 'index';
  const name = source.replace(/(?:\/README)?\.md$/, '').toLowerCase();
  return name.includes('/') ? name.replace(/^docs\//, '') : `project/${name}`;
}
