import { z } from 'zod';
import { count, flag, path, TaskTimeout, title } from '../value-types.ts';
import { faultOfCommand, PROGRAM } from './program.ts';

/** A program that speaks ACP. Each task gets a process of its own. */
export const AcpAgent = z
  .strictObject({
    title: title('Name of the agent for people. Its questions show it.'),
    ...PROGRAM,
    cwd: path('Working directory of the process and of its sessions, the same on every pod.'),
    elicitation: flag(
      true,
      '`false`: the agent cannot ask people questions. Permissions are then refused, too.',
    ),
    taskTimeoutSeconds: TaskTimeout,
    tasksMax: count([8, 1, 1_000], 'How many tasks of the agent may run on one pod at a time.'),
  })
  .superRefine((agent, context) => {
    const message = faultOfCommand(agent);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['command'], message });
  })
  .describe('A program on the same machine as each pod.');
