import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** What vitest's JSON reporter writes, as far as it is read here. */
export interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  /** Milliseconds of the clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** Why a file could not run at all. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
    readonly meta?: { readonly notRun?: string };
  }[];
}

/** Lines kept of a failure's message: of its beginning, and of its end, where a program that failed says why. */
const FIRST_LINES = 12;
const LAST_LINES = 12;
const SLOWEST_FILES = 15;

export function readResults(path: string): Results | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Results;
  } catch {
    return undefined;
  }
}

export interface Failure {
  /** The file and the title of the test. */
  readonly what: string;
  readonly why: string;
}

export function failuresIn({ testResults }: Results, root: string): Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((each) => each.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [{ what: file, why: shorten(message, root) }] : [];
    return failed.map(({ fullName, failureMessages }) => ({
      what: `${file}: ${fullName}`,
      why: shorten(failureMessages[0], root),
    }));
  });
}

/** The message, and the first line of the stack that lies in the project. */
function shorten(text = '', root: string): string {
  const lines = text.split('\n');
  const isFrame = (line: string) => line.startsWith('    at ');
  const own = lines.find((line) => isFrame(line) && line.includes(root) && !line.includes('node_modules'));
  const said = lines.filter((line) => !isFrame(line));
  const first = said.slice(0, FIRST_LINES);
  const last = said.slice(FIRST_LINES).slice(-LAST_LINES);
  const cut = said.length > first.length + last.length ? ['[…]'] : [];
  return [...first, ...cut, ...last, ...(own === undefined ? [] : [own.trim().replaceAll(root, '')])].join(
    '\n',
  );
}

/** What was not run, with the reason that its test gives. */
export function notRunIn({ testResults }: Results, root: string): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(
        ({ fullName, meta }) =>
          `${relative(root, name)}: ${fullName}${meta?.notRun === undefined ? '' : `: ${meta.notRun}`}`,
      ),
  );
}

/** The files that took longest, slowest first. Files run side by side, so that the sum is more than the run took. */
export function slowestFiles({ testResults }: Results, root: string): string[] {
  return testResults
    .map(({ name, startTime, endTime }) => ({
      file: relative(root, name),
      seconds: (endTime - startTime) / 1000,
    }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, SLOWEST_FILES)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
}
