import type { Row } from '@parley/shared/domain/elicitations/row';

/** Who asks, as people know them: the agent that the question names, else the service by the name of its key. */
export function askerOfQuestion({ definition }: Pick<Row, 'definition'>): { readonly agent?: string } {
  const { context, askerName } = definition;
  const { agent } = context;
  const name = typeof agent === 'string' && agent.trim() !== '' ? agent : askerName;
  return name === undefined ? {} : { agent: name };
}
