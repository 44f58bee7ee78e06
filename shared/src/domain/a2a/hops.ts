/**
 * The metadata key for the number of deployments that have delegated a task through A2A or AG-UI so far, including the sender.
 * It ends chains of agents that delegate to each other in a circle.
 */
export const HOPS_KEY = 'https://parley.dev/a2a/hops';

/** The number of hops in the metadata of a message; 0 when there is none. */
export function hopsIn(metadata: Readonly<Record<string, unknown>> | undefined): number {
  const hops = metadata?.[HOPS_KEY];
  return typeof hops === 'number' && Number.isSafeInteger(hops) && hops > 0 ? hops : 0;
}

/** The error text for a task that was delegated too often. */
export const TOO_MANY_HOPS =
  'The task was delegated through more deployments than this one allows; its agents may delegate to each other in a circle.';
