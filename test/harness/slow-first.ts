import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files of the run, slowest first: one that began last would run alone at the end of its group. */
const SLOW = [
  'faults/sentinel',
  'e2e/chat/transport',
  'faults/rolling-restart',
  'browser/widget/states',
  'faults/take-over/take-over',
  'contract/redis',
  'contract/memory',
  'faults/worker',
  'e2e/chat/idempotency',
  'faults/commands',
  'e2e/three-pods',
  'faults/redis-loss',
  'faults/cluster',
  'browser/chat-page/trouble',
  'e2e/connect/connect',
  'faults/streams',
  'integration/worker/process',
  'browser/widget/inbox',
  'faults/take-over/points',
  'browser/connect-pages',
  'faults/pods',
  'attacks/attacks',
  'browser/widget/form',
  'e2e/connect/browser',
  'faults/rolling-restart-page',
  'integration/connect/flow',
  'integration/turns/detach',
  'browser/chat-page/stop',
  'faults/handshake',
  'faults/pubsub-kill',
  'integration/sdk/sdk',
  'contract/cluster',
  'unit/harness/topologies',
  'e2e/delegation',
  'e2e/openai-steps',
  'contract/sentinel',
  'integration/redis/redis-docs',
  'browser/chat-page/away',
  'integration/turns/delegation',
  'faults/racing',
  'unit/agents/config/agents-config-properties',
  'integration/worker/worker',
  'faults/subscriber',
  'infra/check',
  'integration/mcp/stdio',
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
