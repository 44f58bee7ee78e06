import { Writable } from 'node:stream';
import { shareWrites } from '@parley/shared/redis/client/shared-writes';
import { expect, it } from 'vitest';
import { waitUntil } from '../../harness/wait-until.ts';

/** A socket whose writes are shared, and what it hands over to the operating system each time. */
function openSocket(): { socket: Writable; sent: string[] } {
  const sent: string[] = [];
  const socket = new Writable({
    write(chunk, _encoding, done) {
      sent.push(String(chunk));
      done();
    },
    writev(chunks, done) {
      sent.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  shareWrites(socket);
  return { socket, sent };
}

it('sends at once what one turn of the event loop writes, also where its functions are asynchronous', async () => {
  const { socket, sent } = openSocket();
  for (const command of ['a', 'b', 'c']) {
    socket.write(command);
    await Promise.resolve();
  }
  expect(sent).toEqual([]);
  await waitUntil(() => sent.length > 0, { what: 'the commands', everyMs: 1 });
  expect(sent).toEqual(['abc']);
  socket.write('d');
  await waitUntil(() => sent.length > 1, { what: 'the command of a later turn', everyMs: 1 });
  expect(sent).toEqual(['abc', 'd']);
});

it('sends what was written before an orderly end', async () => {
  const { socket, sent } = openSocket();
  socket.write('quit');
  socket.end();
  await waitUntil(() => sent.join('') === 'quit', { what: 'the last command', everyMs: 1 });
});
