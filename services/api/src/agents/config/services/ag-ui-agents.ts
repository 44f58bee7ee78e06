import { z } from 'zod';
import { count, flag, TaskTimeout, title, url } from '../value-types.ts';
import { HTTP_CREDENTIAL, PERSON_HEADER, refuseCredential } from './http-credential.ts';

/** A remote agent that speaks AG-UI. */
export const AgUiAgent = z
  .strictObject({
    title: title('Name of the agent for people. Its questions show it.'),
    url: url('Address to which runs are posted. Redirects are not followed.'),
    ...HTTP_CREDENTIAL,
    ...PERSON_HEADER,
    elicitation: flag(true, '`false`: the agent cannot ask people questions. Its interrupts are cancelled.'),
    repeatable: flag(
      false,
      '`true`: a run that is posted again with its `runId` is the same run there, as at another Parley. A run whose end was lost is then posted again; otherwise the task fails.',
    ),
    taskTimeoutSeconds: TaskTimeout,
    messageBytes: count([1_048_576, 1_024, 16_777_216], 'Size of one event. A larger one ends the task.'),
    threadBytes: count(
      [262_144, 1_024, 4_194_304],
      'Size of the messages and the state of one task, which Parley keeps while the agent waits for a person. Larger ones end the task.',
    ),
    resultCharacters: count(
      [100_000, 1_000, 1_000_000],
      'How much of the text of its messages the delegating model reads.',
    ),
  })
  .superRefine(refuseCredential)
  .describe('An agent elsewhere that speaks AG-UI 1.0 over server-sent events.');
