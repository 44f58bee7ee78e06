import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { findStackCommand, stackPath } from '../harness/stacks/packages.ts';

const KIT = stackPath('@modelcontextprotocol/conformance/');
const CLI = join(KIT, 'dist/index.js');
const SEVERAL = fileURLToPath(new URL('several-scenarios.mjs', import.meta.url));
const KIT_TIMEOUT_MS = 15 * 60_000;
/** For one client. The kit starts the clients of all scenarios at once. */
const CLIENT_TIMEOUT_MS = 3 * 60_000;
const REASON_LENGTH = 300;

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type KitRevision = (typeof REVISIONS)[number];
/** The side that is tested. */
export type KitRole = 'server' | 'client';

/** Scenarios of extensions that Parley has. No revision requires them. */
export const EXTENSIONS: Readonly<Record<KitRole, readonly string[]>> = {
  server: [
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-required-task-error',
    'tasks-mrtr-composition',
  ],
  client: [
    'auth/client-credentials-basic',
    'auth/client-credentials-jwt',
    'auth/enterprise-managed-authorization',
    'auth/wif-jwt-bearer',
    'auth/dpop',
    'auth/dpop-nonce',
  ],
};

/** The Node that runs the kit; or why the kit cannot run. */
export const findKit = () => findStackCommand('@modelcontextprotocol/conformance/dist/index.js');

/** A check that did not pass. */
export interface Complaint {
  readonly check: string;
  readonly reason: string;
}

/** What the kit found out about one scenario. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly passed: number;
  readonly failures: readonly Complaint[];
  /** What the specification says with SHOULD. The kit passes a scenario that has some. */
  readonly warnings: readonly Complaint[];
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const Requirements = z.object({ server: z.array(z.string()), client: z.array(z.string()) });

/** The scenarios that a revision requires of each side, from the kit itself. */
export function requiredScenarios(revision: KitRevision): Readonly<Record<KitRole, readonly string[]>> {
  return Requirements.parse(parse(readFileSync(join(KIT, 'requirements', `${revision}.yaml`), 'utf8')));
}

/** Runs what a revision requires, or some scenarios of it, against a server's URL, or against a client's command. */
export async function runScenarios(
  node: string,
  role: KitRole,
  revision: KitRevision,
  target: string,
  some?: readonly string[],
): Promise<ScenarioResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-conformance-'));
  try {
    const option = role === 'server' ? '--url' : '--command';
    const patience = role === 'client' ? ['--timeout', String(CLIENT_TIMEOUT_MS)] : [];
    const common = [role, option, target, '-o', folder, ...patience];
    if (some === undefined) await runKit(node, [CLI, ...common, '--requirements', revision]);
    else await runKit(node, [SEVERAL, CLI, some.join(), ...common, '--spec-version', revision, '--force']);
    return readResults(folder, role);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The kit exits with an error when a check fails; its results tell more. */
function runKit(node: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      node,
      args,
      {
        cwd: fileURLToPath(new URL('../../', import.meta.url)),
        timeout: KIT_TIMEOUT_MS,
        maxBuffer: 100_000_000,
      },
      (error, stdout, stderr) => {
        if (error === null || typeof error.code === 'number') resolve(stdout);
        else reject(new Error(`the kit could not run: ${error.message} ${stderr.slice(0, 500)}`));
      },
    );
  });
}

/** One folder for each scenario, named by the role, the scenario and the time. Scenarios may have a slash. */
function readResults(folder: string, role: KitRole): ScenarioResult[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('checks.json'),
  );
  return files.map((path) => {
    const checks = JSON.parse(readFileSync(join(folder, path), 'utf8')) as readonly Check[];
    const scenario = path
      .replace(/[/\\]checks\.json$/, '')
      .replace(new RegExp(`^${role}-`), '')
      .replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z?$/, '');
    const withStatus = (status: string) => checks.filter((check) => check.status === status);
    return {
      scenario,
      passed: withStatus('SUCCESS').length,
      failures: withStatus('FAILURE').map(complaintOf),
      warnings: withStatus('WARNING').map(complaintOf),
    };
  });
}

function complaintOf({ id, errorMessage = 'no reason given' }: Check): Complaint {
  return { check: id, reason: errorMessage.slice(0, REASON_LENGTH) };
}
