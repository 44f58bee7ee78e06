/**
 * The metadata of a message that begins a task: how many deployments have delegated it through A2A or AG-UI, this one included. It ends
 * chains of agents that delegate to each other in a circle.
 */
export const HOPS_KEY = 'https://parley.dev/a2a/hops';

/** The number in the metadata of a message; 0 without one. */
export function hopsIn(metadata: Readonly<Record<string, unknown>> | undefined): number {
  const hops = metadata?.[HOPS_KEY];
  return typeof hops === 'number' && Number.isSafeInteger(hops) && hops > 0 ? hops : 0;
}

/** Why what was delegated too often is refused. */
export const TOO_MANY_HOPS =
  'The task was delegated through more deployments than this one allows; its agents may delegate to each other in a circle.';
