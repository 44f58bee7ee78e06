import { Client, Connection } from '@temporalio/client';
import { refund } from './workflows.ts';

const { TEMPORAL_ADDRESS: address = 'localhost:7233' } = process.env;
const [order = 'A-17', euros = '40'] = process.argv.slice(2);

const client = new Client({ connection: await Connection.connect({ address }) });
const status = await client.workflow.execute(refund, {
  taskQueue: 'refunds',
  workflowId: `refund-${order}`,
  args: [{ order, euros: Number(euros) }],
});
console.log(`Order ${order} is ${status}.`);
