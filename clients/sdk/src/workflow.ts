export { NotAnsweredError, StepFailedError, WorkflowChangedError } from './workflow/errors.ts';
export {
  ask,
  askForOutcome,
  type StepContext,
  step,
  type Workflow,
  type WorkflowRequest,
} from './workflow/program.ts';
export {
  createMemoryRecord,
  createParleyRecord,
  type ParleyRecordOptions,
  type WorkflowEntry,
  type WorkflowRecord,
} from './workflow/record.ts';
export { type RunWorkflowOptions, runWorkflow } from './workflow/run.ts';
