import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { listenOnFreePort } from '../../../harness/free-port.ts';
import { waitUntil } from '../../../harness/wait-until.ts';
import { must } from '../client.ts';
import type { Row } from '../rows.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../times.ts';

/** The pauses after a failed delivery, each up to a tenth longer. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];
const DEAD_LETTER = 30 * DAY;
/** A record that is read is kept for so much longer than it must be, so that few reads write. */
const RENEWED_FOR = 1.1;
/** What the rounds of the outbox and a busy machine may add. */
const LATE = MINUTE;

/** What services have: webhooks, workflows, MCP sessions, the right to erase. */
export const SERVICE_STORIES: readonly Row[] = [
  {
    name: 'a webhook is tried ten times in three days, and is a dead letter for thirty more',
    documented: 'docs/webhooks.md (retries, dead letters)',
    lateness: 'a tenth of each pause, and the rounds of the outbox',
    async story({ client, clock }) {
      const attempts: number[] = [];
      const receiver = createServer((_request, response) => {
        attempts.push(Date.now());
        response.writeHead(500).end();
      });
      const webhookUrl = `http://127.0.0.1:${await listenOnFreePort(receiver)}/hook`;
      try {
        const id = await client.ask('hooked', { webhookUrl, timeoutSeconds: 60 });
        must(await client.answer('hooked', id), 200);
        await waitUntil(() => attempts.length > 0, { what: 'the first attempt' });
        for (const [index, pause] of PAUSES.entries()) {
          await clock.until((attempts.at(-1) ?? 0) + pause * 1.1 + SECOND);
          await waitUntil(() => attempts.length > index + 1, { what: 'the next attempt' });
        }
        const gaps = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
        for (const [index, pause] of PAUSES.entries()) {
          const gap = gaps[index] ?? 0;
          assert.ok(gap >= pause && gap <= pause * 1.1 + LATE, `${gap} ms in place of ${pause} ms`);
        }
        assert.equal(gaps.length, PAUSES.length);
        const letters = async () =>
          must(await client.call('GET', '/v1/webhooks/dead-letters'), 200).body.deadLetters as {
            elicitationId: string;
            diedAt: string;
          }[];
        const [letter] = await letters();
        assert.equal(letter?.elicitationId, id);
        const diedAt = Date.parse(letter?.diedAt ?? '');
        await clock.until(diedAt + DEAD_LETTER - MINUTE);
        assert.equal((await letters()).length, 1);
        assert.equal((await client.read(id)).state, 'accepted');
        await clock.until(diedAt + DEAD_LETTER + MINUTE);
        assert.deepEqual(await letters(), []);
        assert.equal((await client.read(id)).status, 404);
        return `${attempts.length} attempts, none early; listed with its question for thirty days`;
      } finally {
        receiver.closeAllConnections();
        receiver.close();
      }
    },
  },
  {
    name: 'an MCP session lasts a day after its last request',
    documented: 'docs/configuration.md (PARLEY_MCP_SESSION_SECONDS), docs/redis.md (record)',
    lateness: 'a tenth',
    async story({ client, clock, stage }) {
      const send = async (method: string, params: object, session = '') =>
        client.call('POST', '/run/v1/mcp', {
          token: await stage.issuer.token('desk'),
          headers: {
            accept: 'application/json, text/event-stream',
            ...(session !== '' && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
          },
          body: { jsonrpc: '2.0', id: 1, method, params },
        });
      const clientInfo = { name: 'month', version: '1' };
      const begun = await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
      const session = String(must(begun, 200).headers['mcp-session-id']);
      for (let day = 0; day < 2; day += 1) {
        await clock.until(after(DAY - MINUTE));
        must(await send('tools/list', {}, session), 200);
      }
      await clock.until(after(DAY * RENEWED_FOR + MINUTE));
      must(await send('tools/list', {}, session), 404);
      return 'used twice a minute before its end, unknown a tenth after it';
    },
  },
  {
    name: 'an entry of a workflow is kept for a day after it was last read',
    documented: 'docs/workflows.md (How long), docs/redis.md (record)',
    lateness: 'a tenth',
    async story({ client, clock }) {
      const path = '/v1/workflows/monthly/entries/0';
      const read = () => client.call('GET', `${path}?userId=flows`);
      must(
        await client.call('POST', path, {
          body: { userId: 'flows', kind: 'step', name: 'charge', result: 1 },
        }),
        200,
      );
      for (let day = 0; day < 2; day += 1) {
        await clock.until(after(DAY - MINUTE));
        must(await read(), 200);
      }
      await clock.until(after(DAY * RENEWED_FOR + MINUTE));
      must(await read(), 404);
      return 'read twice a minute before its end, unknown a tenth after it';
    },
  },
  {
    name: 'nothing is stored for five minutes after a user was erased',
    documented: 'docs/http-api.md (Erasing a user)',
    lateness: 'a second',
    async story({ client, clock }) {
      const ask = () =>
        client.call('POST', '/v1/elicitations', {
          body: {
            userId: 'gone',
            mode: 'url',
            url: 'https://example.com/',
            message: 'Open it.',
            timeoutSeconds: 60,
          },
        });
      must(await ask(), 201);
      must(await client.call('DELETE', '/v1/users/gone'), 200);
      const erasedAt = Date.now();
      await clock.until(erasedAt + 4 * MINUTE);
      assert.equal(must(await ask(), 409).body.code, 'user_erased');
      await clock.until(erasedAt + 5 * MINUTE + SECOND);
      must(await ask(), 201);
      return 'refused a minute before, taken a second after';
    },
  },
];
