import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// JavaScript, so that node loads it without tsx. Loaded into a process under test, before its entry: `liveBytes` asks it by this signal.
process.on('SIGUSR2', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  collect();
  // What a first collection finds unused may hold buffers, which the next one gives back.
  setImmediate(() => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ liveBytes: heapUsed + external })}\n`);
  });
});
