import { createServer } from 'node:http';
import { TaskState } from '@a2a-js/sdk';
import { expect } from 'vitest';
import { listenOnFreePort } from '../free-port.ts';
import { answer, asTask, say, stateOf, statesOf } from './messages.ts';
import { newPerson, openA2aSite, openClient } from './setup.ts';

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
    const waiting = await asTask(client.sendMessage(say('trip text')));
    expect(stateOf(waiting)).toBe('INPUT_REQUIRED');
    const { id, contextId } = waiting;
    const config = { tenant: '', taskId: id, id: 'c', url, token: '', authentication: undefined };
    await client.createTaskPushNotificationConfig(config);
    const beside = await asTask(client.sendMessage(say('page', { contextId })));
    expect(stateOf(beside)).toBe('AUTH_REQUIRED');
    let subscribed: () => void = () => undefined;
    const subscription = new Promise<void>((resolve) => {
      subscribed = resolve;
    });
    const following = statesOf(client.resubscribeTask({ id, tenant: '' }), subscribed);
    await subscription;
    const left = await asTask(client.sendMessage(answer(waiting, { action: 'decline' })));
    await client.sendMessage(answer(left, { action: 'decline' }));
    expect((await following).at(-1)).toBe('COMPLETED');
    expect(stateOf(await client.cancelTask({ id: beside.id, tenant: '', metadata: undefined }))).toBe(
      'CANCELED',
    );
    const { tasks } = await client.listTasks({
      tenant: '',
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(tasks.map(stateOf).sort()).toEqual(['CANCELED', 'COMPLETED']);
    await expect.poll(() => pushed.join(), { timeout: 20_000 }).toContain('TASK_STATE_COMPLETED');
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'c' });
    const { configs } = await client.listTaskPushNotificationConfig({
      tenant: '',
      taskId: id,
      pageToken: '',
      pageSize: 5,
    });
    expect(configs).toEqual([]);
  } finally {
    receiver.close();
    await site.stop();
  }
}
