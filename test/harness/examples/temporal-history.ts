/** The history that Temporal writes of one run of the example's workflow: a person agreed, and the money was paid back. */
export function historyOfRefund(order: object): readonly object[] {
  const taskQueue = { name: 'refunds' };
  const events: object[] = [];
  const add = (type: string, attributes: object): string => {
    const key = `${camelCase(type)}EventAttributes`;
    const eventTime = { seconds: 1_750_000_000 + events.length };
    const eventId = String(events.length + 1);
    events.push({ eventId, eventTime, eventType: `EVENT_TYPE_${type}`, [key]: attributes });
    return String(events.length);
  };
  let workflowTaskCompletedEventId = '';
  const runWorkflow = () => {
    const scheduledEventId = add('WORKFLOW_TASK_SCHEDULED', { taskQueue, attempt: 1 });
    const startedEventId = add('WORKFLOW_TASK_STARTED', { scheduledEventId });
    // The flags make a replay compare the names of activities, too.
    const sdkMetadata = { coreUsedFlags: [1, 2] };
    workflowTaskCompletedEventId = add('WORKFLOW_TASK_COMPLETED', {
      scheduledEventId,
      startedEventId,
      sdkMetadata,
    });
  };
  const runActivity = (activityId: string, name: string, result: unknown) => {
    const scheduledEventId = add('ACTIVITY_TASK_SCHEDULED', {
      activityId,
      activityType: { name },
      taskQueue,
      workflowTaskCompletedEventId,
    });
    const startedEventId = add('ACTIVITY_TASK_STARTED', { scheduledEventId, attempt: 1 });
    add('ACTIVITY_TASK_COMPLETED', { scheduledEventId, startedEventId, result: payloadsOf(result) });
  };

  add('WORKFLOW_EXECUTION_STARTED', {
    workflowType: { name: 'refund' },
    taskQueue,
    input: payloadsOf(order),
    workflowTaskTimeout: { seconds: 10 },
    originalExecutionRunId: 'run-1',
    firstExecutionRunId: 'run-1',
    attempt: 1,
  });
  runWorkflow();
  runActivity('1', 'isApproved', true);
  runWorkflow();
  runActivity('2', 'pay', null);
  runWorkflow();
  add('WORKFLOW_EXECUTION_COMPLETED', { result: payloadsOf('paid'), workflowTaskCompletedEventId });
  return events;
}

function camelCase(type: string): string {
  return type.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function payloadsOf(value: unknown): object {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const payload = { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) };
  return { payloads: [payload] };
}

/** Replays `history.json` in the sandbox of Temporal: it fails when the workflow does anything else than what stands there. */
export const REPLAY = `
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
const events = JSON.parse(readFileSync('history.json', 'utf8'));
const history = proto.temporal.api.history.v1.History.fromObject({ events });
const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));
await Worker.runReplayHistory({ workflowsPath }, history, 'refund-A-17');
`;
