/**
 * A process that calls tools over stdio and HTTP. `stays`: prints the pid of the program, and runs for ever.
 * `closes`: closes its clients with calls under way and then has nothing left to do, so that node ends by itself.
 */

import { waitUntil } from '../wait-until.ts';
import { startMcpServer } from './mcp-servers.ts';
import { createMcpBench, httpConfig, stdioConfig } from './setup.ts';

async function hold(): Promise<void> {
  const bench = createMcpBench();
  const client = bench.client({ killGraceMs: 50 });
  const program = client.open(await stdioConfig(['new', 'stubborn']));
  const pid = await program.call('pid', {});
  if (process.argv[2] === 'stays') {
    process.stdout.write(JSON.stringify(pid.type === 'result' && pid.content[0]).replaceAll(/\D/g, ''));
    setInterval(() => undefined, 1_000);
  } else {
    const [oldOne, newOne] = [
      await startMcpServer({ revision: 'old' }),
      await startMcpServer({ revision: 'new' }),
    ];
    const servers = [program, client.open(httpConfig(oldOne.url))];
    servers.push(client.open({ ...httpConfig(newOne.url), id: 'another' }));
    for (const server of servers) {
      await server.listTools();
      void server.call('hang', {});
    }
    await waitUntil(() => oldOne.count('tools/call') + newOne.count('tools/call') === 2, {
      what: 'both calls',
    });
    await bench.close();
    // Unclosed sockets of the client would hold the servers.
    await Promise.all(
      [oldOne, newOne].map((one) => waitUntil(() => one.sockets === 0, { what: 'no socket' })),
    );
    await Promise.all([oldOne.kill(), newOne.kill()]);
  }
}

void hold();
