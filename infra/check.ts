import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { allChecks } from './check/all.ts';
import { filledSecretsCheck } from './check/kubernetes/secrets.ts';
import type { Check, Verdict } from './check/verdict.ts';

const usage = `node --conditions=parley-source --import tsx infra/check.ts [--images] [--only <text>] [--secrets <file>]

Checks the Dockerfile, the compose file, the Kubernetes manifests, the proxies, Redis and the telemetry.
  --images          also build and start the images with buildah (slow, needs root and debootstrap)
  --only <text>     only the checks whose name contains the text
  --secrets <file>  only this: is a filled-in copy of secrets.template.yaml ready to apply?
One line a check: ok, FAIL, or "not run" with what is missing. Ends with 1 if anything failed.`;

const { values } = parseArgs({
  options: {
    images: { type: 'boolean', default: false },
    only: { type: 'string' },
    secrets: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function chosen(): readonly Check[] {
  if (values.secrets !== undefined) return [filledSecretsCheck(values.secrets)];
  const all = allChecks({ images: values.images });
  return all.filter((check) => check.name.includes(values.only ?? ''));
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
  const root = values.secrets === undefined ? resolve(import.meta.dirname, '..') : process.cwd();
  let failed = 0;
  for (const check of chosen()) {
    const verdict = await check.run(root);
    print(check, verdict);
    if (verdict.status === 'fail') failed += 1;
  }
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
