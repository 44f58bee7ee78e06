import { createServer } from 'node:http';
import { expect } from 'vitest';
import { listenOnFreePort } from '../free-port.ts';
import { newPerson } from '../protocols/pods.ts';
import { answer, stateOf, tasksOf } from './messages.ts';
import { openA2aSite, openClient } from './setup.ts';

/**
 * Everything that A2A does with Redis, once, on the Redis at a location: tasks that wait, parallel ones in a context,
 * subscriptions, answers, lists, cancellation and pushes.
 */
export async function walkA2a(location: NonNullable<Parameters<typeof openA2aSite>[0]>['location'] & {}) {
  const site = await openA2aSite({ location });
  const pushed: string[] = [];
  const receiver = createServer(async (req, res) => {
    for await (const chunk of req) pushed.push(String(chunk));
    res.writeHead(204).end();
  });
  try {
    const url = `http://127.0.0.1:${await listenOnFreePort(receiver)}/push`;
    const client = await openClient(site, { token: newPerson().token });
    const { send, reply, cancel, follow, list } = tasksOf(client);
    const waiting = await send('trip text');
    expect(stateOf(waiting)).toBe('INPUT_REQUIRED');
    const { id, contextId } = waiting;
    const config = { tenant: '', taskId: id, id: 'c' };
    await client.createTaskPushNotificationConfig({ ...config, url, token: '', authentication: undefined });
    const beside = await send('page', { contextId });
    expect(stateOf(beside)).toBe('AUTH_REQUIRED');
    const { states } = await follow(id);
    await reply(answer(await reply(answer(waiting, { action: 'decline' })), { action: 'decline' }));
    expect((await states).at(-1)).toBe('COMPLETED');
    expect(stateOf(await cancel(beside.id))).toBe('CANCELED');
    expect((await list({ contextId })).tasks.map(stateOf).sort()).toEqual(['CANCELED', 'COMPLETED']);
    await expect.poll(() => pushed.join()).toContain('TASK_STATE_COMPLETED');
    await client.deleteTaskPushNotificationConfig(config);
    const page = { tenant: '', taskId: id, pageToken: '', pageSize: 5 };
    expect((await client.listTaskPushNotificationConfig(page)).configs).toEqual([]);
  } finally {
    receiver.close();
    await site.stop();
  }
}
