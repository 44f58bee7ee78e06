import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities.ts';

const { TEMPORAL_ADDRESS: address = 'localhost:7233' } = process.env;

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: 'refunds',
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities,
});
await worker.run();
