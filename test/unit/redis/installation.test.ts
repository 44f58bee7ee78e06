import { parseInfo } from '@parley/shared/redis/installation';
import { expect, it } from 'vitest';

it.each([
  [
    '# Server\r\nredis_version:7.4.1\r\n# Replication\r\nrole:master\r\nused_memory:100\r\nmaxmemory:200\r\n',
    { role: 'master', version: '7.4.1', usedMemoryBytes: 100, maxMemoryBytes: 200 },
  ],
  // Valkey names the version of Redis with which it is compatible, too.
  ['redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nmaxmemory:0\r\n', { version: '8.1.0' }],
  ['used_memory:much\r\nused_memory_human:1M', {}],
  ['', {}],
])('INFO %j tells %j', (text, server) => {
  expect(parseInfo(text)).toEqual(server);
});
