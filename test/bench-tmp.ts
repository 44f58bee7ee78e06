import { startRedis } from './harness/redis-server.ts';
import { askOf, answerOf, newOwner } from './contract/questions.ts';
import { single, startTestPod } from './integration/worker-setup.ts';
import { Redis } from 'ioredis';
const r = await startRedis();
const pod = await startTestPod({ location: single(r.url) });
let n = 0;
for (let round = 0; round < 400; round++) {
  const owners = Array.from({ length: 50 }, newOwner);
  await Promise.all(owners.map(async (o) => { const { row } = await askOf(pod.engine, o); n++; if (round % 5) await answerOf(pod.engine, o, row.id, 'decline'); }));
}
const probe = new Redis(r.url);
const cpu = async () => Number(/used_cpu_user:([\d.]+)/.exec(await probe.info('cpu'))?.[1]);
console.log('rows', n, 'keys', await probe.dbsize());
for (const what of ['indexCheck', 'cleanup', 'indexCheck'] as const) {
  await probe.config('RESETSTAT'); await probe.slowlog('RESET');
  const c0 = await cpu(); const t = performance.now();
  console.log(what, await pod.audit[what](), Math.round(performance.now() - t), 'ms', 'redis cpu s', ((await cpu()) - c0).toFixed(2));
  console.log((await probe.info('commandstats')).split('\r\n').filter((l) => /evalsha|scan|pttl|zcard/.test(l)).join('\n'));
}
console.log('slowlog >10ms', (await probe.slowlog('GET')).length);
probe.disconnect(); await pod.close(); await r.stop();
