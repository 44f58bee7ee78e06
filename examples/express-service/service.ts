import { readFileSync, writeFileSync } from 'node:fs';
import { createClient } from '@parley/sdk';
import express from 'express';

const {
  PARLEY_URL = 'http://localhost:3000',
  PARLEY_TOKEN = '',
  APPROVER = 'me',
  PORT = '8000',
} = process.env;
const DAY_SECONDS = 86_400;

interface Refund {
  readonly order: string;
  readonly euros: number;
  readonly status: 'waiting' | 'paid' | 'refused';
}

const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
const refunds = readRefunds();

const app = express();
app.use(express.json());

app.post('/refunds', (req, res) => {
  const { order, euros } = req.body as { order: string; euros: number };
  const known = refunds.get(order);
  if (known === undefined) {
    save({ order, euros, status: 'waiting' });
    void decide(order);
  }
  res.status(202).json(refunds.get(order));
});

app.get('/refunds/:order', (req, res) => {
  const refund = refunds.get(req.params.order);
  res.status(refund === undefined ? 404 : 200).json(refund ?? {});
});

app.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`Refunds are taken at http://localhost:${PORT}/refunds`),
);

// The service may have been restarted while people were being asked. It asks again with the same keys, and gets the same
// questions.
for (const { order, status } of refunds.values()) if (status === 'waiting') void decide(order);

/** Asks a person about a refund, and pays it only if they agree. It may take a day. */
async function decide(order: string): Promise<void> {
  const refund = refunds.get(order);
  if (refund === undefined) return;
  try {
    const outcome = await parley.ask(
      {
        userId: APPROVER,
        mode: 'form',
        message: `Refund ${refund.euros} euros for order ${order}?`,
        requestedSchema: {
          type: 'object',
          properties: { pay: { type: 'boolean', title: 'Pay the money back' } },
          required: ['pay'],
        },
        timeoutSeconds: DAY_SECONDS,
      },
      { idempotencyKey: `refund-${order}` },
    );
    // Declined, cancelled, expired and withdrawn questions are not consent.
    const mayPay = outcome.status === 'accepted' && outcome.content.pay;
    // Make the payment here. This may run again for the same order after a crash, so use the order as the payment's idempotency
    // key.
    save({ ...refund, status: mayPay ? 'paid' : 'refused' });
  } catch (error) {
    console.error(`Order ${order} still waits; the next start of the service asks again.`, error);
  }
}

/** Replace this file by your database. */
function readRefunds(): Map<string, Refund> {
  try {
    return new Map(JSON.parse(readFileSync('refunds.json', 'utf8')) as [string, Refund][]);
  } catch {
    return new Map();
  }
}

function save(refund: Refund): void {
  refunds.set(refund.order, refund);
  writeFileSync('refunds.json', JSON.stringify([...refunds]));
}
