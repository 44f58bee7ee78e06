import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programCheck } from './programs.ts';
import { type Check, judge } from './verdict.ts';

/** Checks that haproxy and nginx accept their files. test/infra/proxy.test.ts tests how the proxies behave with them. */
export const proxyChecks: readonly Check[] = [
  programCheck('haproxy -c', 'haproxy', () => ['-c', '-f', 'infra/proxy/haproxy.cfg']),
  programCheck('haproxy -c telemetry', 'haproxy', () => ['-c', '-f', 'infra/proxy/telemetry.cfg']),
  programCheck('nginx -t', 'nginx', (root, scratch) => ['-t', '-q', '-c', nginxCopy(root, scratch)]),
  { name: 'nginx buffering', run: (root) => judge(bufferingProblems(root)) },
];

/** A test cannot show this, because nginx passes small events on even when it buffers. */
function bufferingProblems(root: string): readonly string[] {
  const text = readFileSync(join(root, 'infra/proxy/nginx.conf'), 'utf8');
  return /^\s*proxy_buffering off;/m.test(text) ? [] : ['nginx.conf buffers streams'];
}

/** nginx refuses names that do not resolve and files that it may not write, so both are replaced by local ones. */
function nginxCopy(root: string, scratch: string): string {
  const file = join(scratch, 'nginx.conf');
  const text = readFileSync(join(root, 'infra/proxy/nginx.conf'), 'utf8')
    .replaceAll(/api-[123]:3000/g, '127.0.0.1:3000')
    .replaceAll('/tmp/nginx', join(scratch, 'nginx'))
    .replace('/dev/stdout', join(scratch, 'access.log'));
  writeFileSync(file, text);
  return file;
}
