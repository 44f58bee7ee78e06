import { createClient } from '@parley/sdk';
import { RELEASE } from './release.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', SECONDS = '60' } = process.env;
const { WEBHOOK_URL = 'http://127.0.0.1:8000/parley' } = process.env;

/** Asks in the person's apps. The receiver is told the outcome, so nobody has to wait here. */
const { elicitation } = await createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN }).start({
  userId: 'me',
  mode: 'form',
  message: process.argv[2] ?? 'May version 4.2 be released?',
  requestedSchema: RELEASE,
  timeoutSeconds: Number(SECONDS),
  webhookUrl: WEBHOOK_URL,
});
console.log(`Asked ${elicitation.elicitationId}. Without an answer in ${SECONDS} seconds, a mail is sent.`);
