import { defineHandler } from 'nitro';
import { start } from 'workflow/api';
import { refund } from '../workflows/refund.ts';

export default defineHandler(async ({ req }) => {
  const { order, euros } = (await req.json()) as { order: string; euros: number };
  const { runId } = await start(refund, [order, euros]);
  return { runId };
});
