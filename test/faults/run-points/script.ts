import {
  replyOf,
  type ScriptedReply,
  type Turn,
  turnOf,
} from '../../../infra/demo/stand-ins/scripted-model/script.ts';

type ChatRequest = Parameters<typeof turnOf>[0];

/** What the model is asked for, and says. */
export interface Saying {
  /** The conversation, which is what its person said. */
  readonly name: string;
  readonly step: number;
  readonly text: string;
}

// By how many results it has heard.
const STEP_AT: Readonly<Record<number, number>> = { 0: 0, 3: 1, 4: 2 };

/** Books, looks and asks at once, then looks again, then says what it heard. */
export function line({ userText, results }: Turn): ScriptedReply {
  const call = (tool: string, round: number) => ({
    name: `bookings__${tool}`,
    arguments: { name: userText, round },
  });
  const ask = { name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } };
  if (results.length === 0) {
    const text = `Let me see what there is for ${userText}, and which seat it is to be. `;
    return { text, calls: [call('book', 1), call('look', 1), ask] };
  }
  if (results.length === 3) return { text: 'Looking again. ', calls: [call('look', 2)] };
  return { text: `Done: ${results.map(({ text }) => text).join(' / ')}` };
}

/** What the script makes the model say to a request. */
export function sayingOf(request: ChatRequest): Saying {
  const { userText, results } = turnOf(request);
  const { text = '' } = replyOf([line], request);
  return { name: userText, step: STEP_AT[results.length] ?? -1, text };
}

/** Names a call within its conversation, by the tool and what it is given. */
export function callNameOf(toolName: string, input: unknown): string {
  const { round = 1 } = (input ?? {}) as { readonly round?: number };
  return `${toolName.replace('bookings__', '')}#${round}`;
}
