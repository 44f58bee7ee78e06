import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { costOf, readCosts } from './costs.ts';
import { ROOT } from './root.ts';

/**
 * Runs the slow files of a group before the others: one that began last would run alone at the end of its group. Files
 * with processes of their own precede those that share some: a file between these would end a process, and what it has
 * loaded would be loaded again.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const costs = readCosts();
    const wall = ({ moduleId }: TestSpecification) => costOf(costs, relative(ROOT, moduleId))[1];
    const isShared = ({ project }: TestSpecification) => (project.config.isolate ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => isShared(a) - isShared(b) || wall(b) - wall(a));
  }
}
