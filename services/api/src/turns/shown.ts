import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { CallPage, TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** Where a person's answer goes, for cards that know no other place. */
const RESPOND_URL = '/run/api/elicitation-responses';

/** A question as chats show it: version 1 of the shape, and never the answer. */
export type ShownElicitation = Omit<Elicitation, 'content'> & { readonly v: 1; readonly respondUrl: string };

// What to show is named, so that nothing else an item may carry ever leaves.
const SHOWN = Object.keys(Elicitation.omit({ content: true }).shape);

/** The question without its answer, and where to answer it. */
export function shownElicitation(elicitation: Elicitation): ShownElicitation {
  const fields = Object.entries(elicitation).filter(([key]) => SHOWN.includes(key));
  return { v: 1, ...Object.fromEntries(fields), respondUrl: RESPOND_URL } as ShownElicitation;
}

export type ToolAuthRequired = Extract<TurnEvent, { type: 'tool-auth-required' }>;

/** The notice that a tool needs the user's own account, without what newer pods may add to the event. */
export function shownNotice({ toolCallId, toolId, toolName, service, message }: ToolAuthRequired) {
  return { v: 1 as const, toolCallId, toolId, toolName, service, message };
}

/** A page of a server that shows a call, as chats show it: what it shows is read by its id. */
export interface NamedPage {
  readonly v: 1;
  readonly pageId: string;
  readonly toolCallId: string;
  /** The title of the server. */
  readonly service: string;
}

export function shownPage({ pageId, service }: Pick<CallPage, 'pageId' | 'service'>): NamedPage {
  return { v: 1, pageId, toolCallId: pageId.slice(pageId.indexOf('~') + 1), service };
}
