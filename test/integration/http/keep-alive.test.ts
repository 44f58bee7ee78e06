import { expect, it, onTestFinished } from 'vitest';
import { closeServer, listen, portOf } from '../../../services/api/src/wiring/server.ts';

it('an idle connection is kept as long as the pod is told, and the reply says so', async () => {
  const server = await listen((_req, res) => res.end(), 0, '127.0.0.1', { keepAliveMs: 3_600_000 });
  onTestFinished(() => closeServer(server, 0));
  const { headers } = await fetch(`http://127.0.0.1:${portOf(server)}`);
  expect(headers.get('keep-alive')).toBe('timeout=3600');
});
