import type { Agent } from '../config/file.ts';
import type { Tool } from '../run/tool.ts';
import type { TurnPerson } from './passthrough/person.ts';

/**
 * The current tools of an agent for one person. A server that cannot be reached offers none. `called` names tools that
 * the current step has already called; they stay offered.
 */
export type ToolsOf = (
  agent: Agent,
  person: TurnPerson,
  signal: AbortSignal,
  called?: ReadonlySet<string>,
) => Promise<Tool[]>;
