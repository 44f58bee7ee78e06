import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allChecks } from './check/all.ts';
import { filledSecretsCheck } from './check/secrets.ts';
import type { Check, Verdict } from './check/verdict.ts';

const usage = `node --conditions=parley-source --import tsx infra/check.ts [--only <text>] [--secrets <file>]

Checks the Dockerfile, the compose file, the Kubernetes manifests, the proxies, Redis and the telemetry.
  --only <text>     only the checks whose name contains the text
  --secrets <file>  only this: is a filled-in copy of secrets.template.yaml ready to apply?
One line a check: ok, FAIL, or "not run" with the missing program. Exits with 1 if a check failed, and under CI=true
also if one was not run although apt-get could install its program.`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    secrets: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function selectChecks(): readonly Check[] {
  if (values.secrets !== undefined) return [filledSecretsCheck(values.secrets)];
  return allChecks.filter((check) => check.name.includes(values.only ?? ''));
}

async function runCheck(check: Check, root: string): Promise<Verdict> {
  try {
    return await check.run(root);
  } catch (error) {
    return { status: 'fail', problems: [String(error)] };
  }
}

function print(check: Check, verdict: Verdict): void {
  if (verdict.status === 'ok') console.log(`ok       ${check.name}`);
  else if (verdict.status === 'not run') console.log(`not run: ${check.name}: ${verdict.why}`);
  else for (const problem of verdict.problems) console.log(`FAIL     ${check.name}: ${problem}`);
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const root = values.secrets === undefined ? fileURLToPath(new URL('..', import.meta.url)) : process.cwd();
  const counts = { ok: 0, fail: 0, 'not run': 0 };
  let missing = 0;
  for (const check of selectChecks()) {
    const verdict = await runCheck(check, root);
    print(check, verdict);
    counts[verdict.status] += 1;
    if (verdict.status === 'not run' && verdict.available && process.env.CI === 'true') missing += 1;
  }
  console.log(`${counts.ok} ok, ${counts.fail} failed, ${counts['not run']} not run`);
  return counts.fail + missing === 0 && counts.ok > 0 ? 0 : 1;
}

// Without an `await` of the module itself: a bundle, from which the tests start this, is a script.
void main().then((status) => {
  process.exitCode = status;
});
