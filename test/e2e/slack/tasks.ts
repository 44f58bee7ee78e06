import { describe, expect, it } from 'vitest';
import { controlName } from '../../../services/api/src/pages/views/answer/controls.ts';
import { modern, modernExchange, SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
import { SAYS } from '../../harness/pages/browser.ts';
import { readable } from '../../harness/slack/person.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { SlackDeployment } from './deployment.ts';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const SHOWS_TASKS = { ...SHOWS_ALL, ...TASKS };
const COLOURS = ['red', 'green', 'blue'] as const;

/** Tasks of MCP whose person is in Slack, over three pods. */
export function tasks(the: () => SlackDeployment): void {
  describe('tasks of MCP', () => {
    it('take one of the answers that come at once from their client, from Slack and from the page, on any pod', async () => {
      const { world, slack, linked } = the();
      const { person, web } = await linked('U30');
      const ask = async (pod: number, method: string, params: object, capabilities: object = SHOWS_TASKS) => {
        const request = modern(method, { ...params }, capabilities);
        const { messages } = await modernExchange(world.pods[pod]?.url ?? '', web, request);
        return messages.at(-1)?.result;
      };
      const call = { name: 'painter', arguments: { message: 'paint' } };
      const taskId = (await ask(0, 'tools/call', call))?.taskId;
      const get = (capabilities?: object) => ask(1, 'tasks/get', { taskId }, capabilities);
      const asked = await waitUntil(async () => (await get())?.inputRequests, { what: 'the question' });
      const [key = ''] = Object.keys(asked);
      const shown = () =>
        slack.messages.find((one) => one.channel === person.channel && /Which colour/.test(readable(one)));
      const notice = await waitUntil(shown, { what: 'the notice in Slack' });
      const address = /https?:\/\/\S+/u.exec(String((await get(TASKS))?.statusMessage))?.[0] ?? '';
      const page = await web.browser.enter(address, web.userId);
      const before = world.echo.counts().tools.echo ?? 0;

      const [, pressed, posted] = await Promise.all([
        ask(2, 'tasks/update', {
          taskId,
          inputResponses: { [key]: { action: 'accept', content: { answer: COLOURS[0] } } },
        }),
        person.press(notice, 'parley_choice_1'),
        web.browser.submit(page, 'accept', { [controlName(0)]: '2' }),
      ]);
      const { result } = await waitUntil(
        async () => {
          const task = await get();
          return task?.status === 'completed' ? task : undefined;
        },
        { what: 'the result' },
      );
      const told = COLOURS.filter((colour) => JSON.stringify(result).includes(colour));
      expect(told).toHaveLength(1);
      expect((world.echo.counts().tools.echo ?? 0) - before).toBe(1);
      expect(pressed.status).toBe(200);
      expect(posted.heading).toBe(told[0] === COLOURS[2] ? SAYS.ended('answered') : SAYS.ended('settled'));
      const where = told[0] === COLOURS[1] ? 'Slack' : 'another application';
      await waitUntil(() => readable(shown() as never).includes(`Answered by <@U30> in ${where}`), {
        what: 'the edit in Slack',
      });
    });
  });
}
