import type { Context } from './elicitation.ts';

type NamedContext = Pick<Context, never> & { readonly agent?: unknown };

/** The readable name of the asker: the agent that the question names. Undefined if it names none. */
export function askerOf({ context }: { readonly context?: NamedContext | undefined }): string | undefined {
  const agent = context?.agent;
  return typeof agent === 'string' && agent.trim() !== '' ? agent : undefined;
}

/** The context of a question with its asker: the agent that it names, or else the name of the service key. */
export function namedContext(context: Context, keyName: string | undefined): Context {
  return keyName === undefined || askerOf({ context }) !== undefined
    ? context
    : { ...context, agent: keyName };
}
