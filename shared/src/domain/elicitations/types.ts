import type { ElicitationEvent } from '../events.ts';
import type { AnswerCommand, CompleteCommand } from './commands.ts';
import type { Elicitation } from './elicitation.ts';
import type { Definition } from './row.ts';
import type { Settlement } from './settlement.ts';
import type { Status } from './status.ts';
import type { Wake } from './wake.ts';

/** The types of elicitations, for generic code. */
export interface ElicitationTypes {
  readonly definition: Definition;
  readonly status: Status;
  readonly settlement: Settlement;
  readonly command: AnswerCommand | CompleteCommand;
  readonly event: ElicitationEvent;
  readonly wake: Wake;
  readonly wire: Elicitation;
}
