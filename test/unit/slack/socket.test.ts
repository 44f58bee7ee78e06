import { expect, it, onTestFinished } from 'vitest';
import { startSocket } from '../../../services/api/src/surfaces/slack/socket.ts';
import { startSocketMode } from '../../harness/slack/socket.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const SETTINGS = {
  clientId: 'id',
  clientSecret: 'secret',
  signingSecret: 'signing',
  appToken: 'xapp-1-A1-1-a',
  publicUrl: 'https://parley.example',
  teams: [],
  retentionMs: 1_000,
};

it('takes events over a WebSocket, and acknowledges those that were taken in', async () => {
  const slack = await startSocketMode(
    ['refused', 'taken'].map((id) => ({
      type: 'events_api',
      envelope_id: id,
      payload: { type: 'event_callback', event: { type: 'message' }, event_id: id },
      accepts_response_payload: false,
    })),
  );
  const faults: unknown[] = [];
  const close = startSocket({
    settings: { ...SETTINGS, slackUrl: slack.url },
    app: {
      async process(body) {
        if (body.event_id === 'refused') throw new Error('Redis is unavailable.');
        return { body: undefined };
      },
    },
    onFault: (error) => faults.push(error),
  });
  onTestFinished(async () => {
    await close();
    slack.stop();
  });
  await waitUntil(() => slack.acknowledged.length > 0 && faults.length > 0, { what: 'the acknowledgement' });
  expect(slack.acknowledged).toEqual(['taken']);
  expect(slack.tokens).toEqual(['Bearer xapp-1-A1-1-a']);
});

it('connects again after a refusal and after the end of a connection, whose acknowledgements are faults', async () => {
  const slack = await startSocketMode([
    {
      type: 'events_api',
      envelope_id: 'one',
      payload: { type: 'event_callback', event: { type: 'message' }, event_id: 'one' },
      accepts_response_payload: false,
    },
  ]);
  slack.refuse(1);
  const faults: unknown[] = [];
  const codes = () => faults.map((fault) => (fault as { readonly code?: string }).code);
  let isCut = false;
  const close = startSocket({
    settings: { ...SETTINGS, slackUrl: slack.url },
    app: {
      async process() {
        if (isCut) return { body: undefined };
        isCut = true;
        slack.cut();
        // The client asks for another connection once it has noticed the end of this one.
        await waitUntil(() => slack.tokens.length > 2, { what: 'another connection' }).catch(() => undefined);
        return { body: undefined };
      },
    },
    onFault: (error) => faults.push(error),
  });
  onTestFinished(async () => {
    await close();
    slack.stop();
  });
  await waitUntil(() => slack.acknowledged.length > 0, { what: 'the acknowledgement' });
  expect(codes()).toContain('slack_webapi_platform_error');
});
