import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';
import { costOf, estimate, readCosts } from './costs.ts';
import { ROOT } from './root.ts';

const MACHINE = {
  cores: Number(process.env.PARLEY_TEST_CORES ?? 2),
  pace: Number(process.env.PARLEY_TEST_PACE ?? 1),
};

/**
 * Prints how long the tests will take here, then a line for each file that has ended, with how far the run is by what its
 * files cost; a failure at once with its reason.
 */
export class ProgressReporter implements Reporter {
  readonly #costs = readCosts();
  readonly #startedAt = Date.now();
  #all = 1;
  #done = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const files = specifications.map(({ moduleId }) => relative(ROOT, moduleId));
    this.#all = files.reduce((sum, file) => sum + costOf(this.#costs, file)[0], 0);
    const minutes = Math.max(1, Math.ceil(estimate(this.#costs, files, MACHINE) / 60));
    say(
      `${files.length} test files; about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} on this machine`,
    );
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    say(`FAIL ${relative(ROOT, test.module.moduleId)}: ${test.fullName}`);
    for (const { message, stacks } of errors ?? []) {
      say(indent(message));
      const at = stacks?.find(({ file }) => file.startsWith(ROOT));
      if (at !== undefined) say(indent(`at ${relative(ROOT, at.file)}:${at.line}`));
    }
  }

  /** What fails before the tests of a suite is an error of the suite, and of no test. */
  onTestSuiteResult(suite: TestSuite): void {
    for (const { message } of suite.errors()) say(`FAIL ${suite.fullName}\n${indent(message)}`);
  }

  onTestModuleEnd(module: TestModule): void {
    const file = relative(ROOT, module.moduleId);
    this.#done += costOf(this.#costs, file)[0];
    const part = `${Math.min(100, Math.round((100 * this.#done) / this.#all))} %`.padStart(5);
    const tests = [...module.children.allTests()];
    const ok = module.ok() ? 'ok  ' : 'FAIL';
    const seconds = Math.round(module.diagnostic().duration / 1_000);
    say(`${part} ${clock(Date.now() - this.#startedAt)} ${ok} ${file} (${tests.length} tests, ${seconds} s)`);
    for (const { message } of module.errors()) say(indent(message));
  }
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `       ${line}`)
    .join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
