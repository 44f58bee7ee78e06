import { createClient, type Elicitation } from '@parley/sdk';
import express from 'express';
import { createTransport } from 'nodemailer';
import { Webhook } from 'standardwebhooks';
import { RELEASE } from './release.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', WEBHOOK_SECRET = '' } = process.env;
const { SMTP_URL = 'smtp://127.0.0.1:1025', PORT = '8000' } = process.env;
const { WEBHOOK_URL = 'http://127.0.0.1:8000/parley' } = process.env;
const DAY_SECONDS = 86_400;

const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
const webhook = new Webhook(WEBHOOK_SECRET);
const mail = createTransport(SMTP_URL);

/** Replace this function by your directory of people. */
const addressOf = (userId: string) => `${userId}@example.com`;

const app = express();

// The signature covers the exact bytes, so the body is verified before it is parsed.
app.post('/parley', express.raw({ type: 'application/json' }), async (req, res) => {
  const event = verified(req.body, req.headers as Record<string, string>);
  if (event === undefined) {
    res.status(400).end();
    return;
  }
  const { type, data } = event;
  const wasMailed = data.tags?.includes('by-mail') === true;
  // If this throws, Express replies 500, and Parley sends the same webhook again later.
  if (type === 'elicitation.expired' && !wasMailed) await askByMail(data);
  else console.log(`${data.message} ${data.status}`, data.content ?? '');
  res.status(204).end();
});

app.listen(Number(PORT), '127.0.0.1', () => console.log(`Webhooks are received at ${WEBHOOK_URL}`));

interface Event {
  readonly type: string;
  readonly data: Elicitation;
}

function verified(body: Buffer, headers: Record<string, string>): Event | undefined {
  try {
    return webhook.verify(body, headers) as Event;
  } catch {
    return undefined;
  }
}

/** Asks an unanswered question again, and mails the person a link with which they answer without signing in. */
async function askByMail({ elicitationId, userId, message }: Elicitation): Promise<void> {
  const { elicitation } = await parley.start(
    {
      userId,
      mode: 'form',
      message,
      requestedSchema: RELEASE,
      timeoutSeconds: DAY_SECONDS,
      webhookUrl: WEBHOOK_URL,
      tags: ['by-mail'],
    },
    // A webhook may arrive twice. The same key then finds the same question.
    { idempotencyKey: `mail-${elicitationId}` },
  );
  const { url } = await parley.createAnswerLink(elicitation.elicitationId, { expiresInSeconds: DAY_SECONDS });
  await mail.sendMail({
    from: 'parley@example.com',
    to: addressOf(userId),
    subject: message,
    text: `${message}\n\nAnswer here, within a day:\n${url}\n\nOnly the first browser that opens this link can answer.\n`,
  });
}
