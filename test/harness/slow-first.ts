import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files of the run, slowest first: one that began last would run alone at the end of its group. */
const SLOW = [
  'faults/sentinel',
  'faults/take-over/take-over',
  'e2e/three-pods',
  'faults/take-over/points',
  'attacks/attacks',
  'browser/chat-page/trouble',
  'browser/widget/states',
  'e2e/chat/idempotency',
  'e2e/chat/transport',
  'faults/redis-loss',
  'contract/redis',
  'faults/cluster',
  'faults/worker',
  'contract/memory',
  'faults/commands',
  'integration/worker/process',
  'browser/connect-pages',
  'browser/widget/inbox',
  'e2e/connect/connect',
  'faults/pods',
  'e2e/connect/browser',
];

/** Runs the slow files of a group before the others. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOW.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return at < 0 ? SLOW.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
