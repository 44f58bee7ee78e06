import type { Context } from './elicitation.ts';

type NamedContext = Pick<Context, never> & { readonly agent?: unknown };

/** Who asks, as people know them: the agent that the question names. Undefined where it names none. */
export function askerOf({ context }: { readonly context?: NamedContext | undefined }): string | undefined {
  const agent = context?.agent;
  return typeof agent === 'string' && agent.trim() !== '' ? agent : undefined;
}

/** The context of a question, which names its asker: the agent that it names itself, else the service by its key. */
export function namedContext(context: Context, keyName: string | undefined): Context {
  return keyName === undefined || askerOf({ context }) !== undefined
    ? context
    : { ...context, agent: keyName };
}
