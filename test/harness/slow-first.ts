import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files of the run, slowest first: one that began last would run alone at the end of its group. */
const SLOW = [
  'browser/widget/states',
  'faults/sentinel',
  'e2e/chat/transport',
  'contract/redis',
  'faults/rolling-restart',
  'faults/take-over/take-over',
  'e2e/abuse',
  'integration/sdk/sdk',
  'contract/memory',
  'faults/commands',
  'faults/redis-loss',
  'faults/worker',
  'e2e/three-pods',
  'conformance/conformance',
  'e2e/mcp/stock-clients',
  'contract/cluster',
  'e2e/acp/acp',
  'e2e/chat/idempotency',
  'browser/chat-page/trouble',
  'integration/worker/process',
  'faults/cluster',
  'browser/widget/look',
  'e2e/connect/connect',
  'unit/harness/topologies',
  'faults/streams',
  'contract/sentinel',
  'infra/check',
  'attacks/attacks',
  'faults/pods',
  'integration/a2a/clients',
  'faults/take-over/points',
  'browser/widget/inbox',
  'integration/redis/redis-docs',
  'e2e/slack/slack',
  'integration/mcp-server/clients',
  'bench/bench',
  'integration/mcp/stdio',
  'faults/handshake',
  'browser/connect-pages',
  'integration/connect/flow',
  'integration/turns/delegation',
  'e2e/connect/browser',
  'integration/turns/detach',
  'faults/pubsub-kill',
  'integration/acp/delegate',
  'faults/rolling-restart-page',
  'integration/worker/worker',
  'unit/sdk/cli-program',
  'browser/chat-page/stop',
  'integration/a2a/refusals',
  'integration/turns/server-questions',
  'unit/agents/config/agents-config-properties',
  'integration/a2a/remote-agents',
  'e2e/openai-steps',
  'integration/mcp-server/protocol',
  'e2e/mcp/servers-that-ask',
  'faults/subscriber',
  'browser/widget/form',
  'integration/sdk/pack',
  'faults/racing',
  'browser/chat-page/away',
  'integration/a2a/remote-take-over',
  'e2e/chat/chat',
];

/**
 * Runs the slow files of a group before the others. Files with processes of their own precede those that share some: a
 * file between these would end a process, and what it has loaded would be loaded again.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const at = SLOW.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return (project.config.isolate ? 0 : SLOW.length + 1) + (at < 0 ? SLOW.length : at);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
