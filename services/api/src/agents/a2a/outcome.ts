import { readable } from '@parley/core/domain/readable';
import { failedWith, returned } from '../remote/result.ts';
import type { ToolCall, ToolOutcome } from '../run/tool.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import type { RemotePart, RemoteTask } from './remote-task.ts';

interface ResultLimits {
  readonly artifactsMax: number;
  readonly resultLengthMax: number;
}

const REASON_LENGTH_MAX = 2_000;

/** The outcome of the delegating call for a task that has ended. */
export function taskOutcome(
  title: string,
  { status, artifacts }: Pick<RemoteTask, 'status' | 'artifacts'>,
  { artifactsMax, resultLengthMax }: ResultLimits,
): ToolOutcome {
  const said = readable(textOf(status.message?.parts ?? []));
  switch (status.state) {
    case 'TASK_STATE_COMPLETED': {
      const text = textOfArtifacts(artifacts.slice(0, artifactsMax)) || said.slice(0, REASON_LENGTH_MAX);
      return returned(title, text, resultLengthMax, artifacts.length <= artifactsMax);
    }
    case 'TASK_STATE_REJECTED':
      return failedWith(`${title} refused the task`, said);
    case 'TASK_STATE_CANCELED':
      return failedWith(`${title} canceled the task; it may have been done in part`, said);
    default:
      return failedWith(`${title} could not finish the task`, said);
  }
}

/** The outcome for a reply that is a message instead of a task. */
export function messageOutcome(
  title: string,
  parts: readonly RemotePart[],
  limits: ResultLimits,
): ToolOutcome {
  return taskOutcome(
    title,
    { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [...parts] }] },
    limits,
  );
}

/** The parts of a message as text. Files are described, not included. */
export function textOf(parts: readonly RemotePart[]): string {
  return parts
    .flatMap((part) => textOfPart(part))
    .join('\n')
    .toWellFormed()
    .trim();
}

function textOfPart({ text, url, raw, data, filename, mediaType }: RemotePart): string[] {
  if (text !== undefined) return [text];
  const name = [filename, mediaType].filter((one) => one !== undefined && one !== '').join(', ');
  if (url !== undefined) return [`(file${name === '' ? '' : ` ${name}`}: ${url})`];
  if (raw !== undefined) return [`(file${name === '' ? '' : ` ${name}`}, not included)`];
  return data === undefined ? [] : [JSON.stringify(data)];
}

/** The artifacts of a task as text. */
export function textOfArtifacts(artifacts: RemoteTask['artifacts']): string {
  return artifacts
    .map(({ parts }) => textOf(parts))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Tells the person that the agent waits for something that Parley cannot ask. */
export async function showNotice(
  call: ToolCall,
  { id, title }: Pick<RemoteAgentTarget, 'id' | 'title'>,
  message: string,
): Promise<void> {
  await call.appendEvent({
    type: 'tool-auth-required',
    toolCallId: call.toolCallId,
    toolId: id,
    toolName: title,
    service: title,
    message: `${title} waits for an authorization.${message === '' ? '' : ` It says: ${message}`}`,
  });
}
