import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { Status } from '@parley/core/domain/elicitations/status';
import type { ElicitationEvent } from '@parley/core/domain/events';
import type { AnswerCommand, CompleteCommand } from './commands.ts';
import type { Definition } from './row.ts';
import type { Settlement } from './settlement.ts';
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
