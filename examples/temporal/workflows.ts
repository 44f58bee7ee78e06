import { proxyActivities } from '@temporalio/workflow';
import type * as activities from './activities.ts';

// As long as a person may need. After 30 seconds without heartbeats the worker counts as lost, and another one continues to
// ask.
const { isApproved } = proxyActivities<typeof activities>({
  startToCloseTimeout: '25 hours',
  heartbeatTimeout: '30 seconds',
});
const { pay } = proxyActivities<typeof activities>({ startToCloseTimeout: '1 minute' });

/** Pays money back after a person has agreed. */
export async function refund(order: activities.Refund): Promise<'paid' | 'refused'> {
  if (!(await isApproved(order))) return 'refused';
  await pay(order);
  return 'paid';
}
