import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, lastLines, run, withDirectory } from './tools.ts';
import { type Check, judge, notRun, type Verdict } from './verdict.ts';

const haproxyFile = 'infra/proxy/haproxy.cfg';
const nginxFile = 'infra/proxy/nginx.conf';

type Rule = { readonly pattern: RegExp; readonly wanted: boolean; readonly otherwise: string };

const haproxyRules: readonly Rule[] = [
  { pattern: /^\s*balance roundrobin$/m, wanted: true, otherwise: 'does not balance in turn' },
  {
    pattern: /^\s*(cookie|stick|balance (source|uri|hdr))\b/m,
    wanted: false,
    otherwise: 'sticks callers to pods',
  },
  { pattern: /http-check send .*\/readyz/, wanted: true, otherwise: 'does not ask /readyz' },
  { pattern: /^\s*retry-on conn-failure$/m, wanted: true, otherwise: 'may send a POST twice' },
  { pattern: /^\s*log-format .*(%r|%HU|%HQ|capture)/m, wanted: false, otherwise: 'logs query strings' },
  { pattern: /^\s*option (httplog|dontlog-normal)/m, wanted: false, otherwise: 'logs query strings' },
  {
    pattern: /set-header X-Forwarded-For %\[src\]/,
    wanted: true,
    otherwise: 'trusts X-Forwarded-For of callers',
  },
];

const nginxRules: readonly Rule[] = [
  { pattern: /^\s*proxy_buffering off;/m, wanted: true, otherwise: 'buffers streams' },
  { pattern: /^\s*(ip_hash|hash|sticky)\b/m, wanted: false, otherwise: 'sticks callers to pods' },
  { pattern: /proxy_next_upstream [^;]*non_idempotent/, wanted: false, otherwise: 'may send a POST twice' },
  { pattern: /proxy_read_timeout 1h;/, wanted: true, otherwise: 'cuts silent long polls' },
  { pattern: /log_format[^;]*\$request(_uri)?\b(?!_)/, wanted: false, otherwise: 'logs query strings' },
  { pattern: /error_log \S+ crit;/, wanted: true, otherwise: 'its error log quotes query strings' },
  { pattern: /X-Forwarded-For \$remote_addr;/, wanted: true, otherwise: 'trusts X-Forwarded-For of callers' },
];

/** Both proxies: no stickiness, no buffering, no second sending of a POST, no query string in a log. */
export const proxyChecks: readonly Check[] = [
  { name: 'haproxy.cfg rules', run: (root) => judge(ruleProblems(root, haproxyFile, haproxyRules)) },
  { name: 'haproxy -c', run: haproxyAccepts },
  { name: 'nginx.conf rules', run: (root) => judge(ruleProblems(root, nginxFile, nginxRules)) },
  { name: 'nginx -t', run: nginxAccepts },
];

function ruleProblems(root: string, file: string, rules: readonly Rule[]): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/^\s*#.*$/gm, '');
  return rules
    .filter((rule) => rule.pattern.test(text) !== rule.wanted)
    .map((rule) => `${file}: ${rule.otherwise}`);
}

/** Pods that do not resolve here are warnings to haproxy, so the file is taken as it is. */
async function haproxyAccepts(root: string): Promise<Verdict> {
  const program = findProgram('haproxy');
  if (program === undefined) return notRun('haproxy is not installed');
  const { code, output } = await run(program, ['-c', '-f', join(root, haproxyFile)]);
  return judge(code === 0 ? [] : [lastLines(output)]);
}

/** nginx refuses names that do not resolve, so the pods stand in as loopback addresses, and files as local ones. */
async function nginxAccepts(root: string): Promise<Verdict> {
  const program = findProgram('nginx');
  if (program === undefined) return notRun('nginx is not installed');
  return withDirectory(async (directory) => {
    const file = join(directory, 'nginx.conf');
    const text = readFileSync(join(root, nginxFile), 'utf8')
      .replaceAll(/api-[123]:3000/g, '127.0.0.1:3000')
      .replaceAll('/tmp/nginx', `${directory}/nginx`)
      .replace('/dev/stdout', `${directory}/access.log`);
    writeFileSync(file, text);
    const { code, output } = await run(program, ['-t', '-q', '-c', file]);
    return judge(code === 0 ? [] : [lastLines(output)]);
  });
}
