import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { CallPage, TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** Where cards send a person's answer by default. */
const RESPOND_URL = '/run/api/elicitation-responses';

/** A question as chats show it: version 1 of the shape, without the answer. */
export type ShownElicitation = Omit<Elicitation, 'content'> & { readonly v: 1; readonly respondUrl: string };

// The shown members are listed, so that no other member of an item is ever sent.
const SHOWN = Object.keys(Elicitation.omit({ content: true }).shape);

/** The question without its answer, and with the path for an answer. */
export function shownElicitation(elicitation: Elicitation): ShownElicitation {
  const fields = Object.entries(elicitation).filter(([key]) => SHOWN.includes(key));
  return { v: 1, ...Object.fromEntries(fields), respondUrl: RESPOND_URL } as ShownElicitation;
}

export type ToolAuthRequired = Extract<TurnEvent, { type: 'tool-auth-required' }>;

/** The notice that a tool needs the user's own account, without members that newer pods may add to the event. */
export function shownNotice({ toolCallId, toolId, toolName, service, message }: ToolAuthRequired) {
  return { v: 1 as const, toolCallId, toolId, toolName, service, message };
}

/** A server's page that shows a call, in the form for chats. The page's content is read by its id. */
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
