import { replyOf, type ScriptedReply, type Turn, turnOf } from '../../../stand-ins/scripted-model/script.ts';

type ChatRequest = Parameters<typeof turnOf>[0];

/** A request to the model with the model's reply. */
export interface Saying {
  /** Name of the conversation, which is its person's message. */
  readonly name: string;
  readonly step: number;
  readonly text: string;
}

// Chosen by the number of tool results so far.
const STEP_AT: Readonly<Record<number, number>> = { 0: 0, 2: 1, 3: 1, 4: 2 };

/** Conversations whose names begin so pay, which their person must approve. */
export const PAYS = 'pay-';

/** Conversations whose names begin so get a first text of so many words, of a hundred characters each. */
export const saying = (words: number) => `says-${words}-words-`;
const SAYS = /^says-(\d+)-words-/;

/**
 * Calls `book`, `look` and `elicit` at once, then `look` again, then repeats the results. In a conversation that pays:
 * calls `pay` and `look` at once, then repeats the results.
 */
export function line({ userText, results }: Turn): ScriptedReply {
  const call = (tool: string, round: number, more = {}) => ({
    name: `bookings__${tool}`,
    arguments: { name: userText, round, ...more },
  });
  const last = { text: `Done: ${results.map(({ text }) => text).join(' / ')}` };
  if (userText.startsWith(PAYS)) {
    if (results.length > 0) return last;
    const calls = [call('pay', 1, { amount: 100 }), call('look', 1)];
    return { text: `Let me see what is to be paid for ${userText}. `, calls };
  }
  const ask = { name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } };
  if (results.length === 0) {
    const words = Number(SAYS.exec(userText)?.[1] ?? 0);
    const text =
      words > 0
        ? Array.from({ length: words }, (_, at) => `word-${at}-`.padEnd(99, 'x')).join(' ')
        : `Let me see what there is for ${userText}, and which seat it is to be. `;
    return { text, calls: [call('book', 1), call('look', 1), ask] };
  }
  if (results.length === 3) return { text: 'Looking again. ', calls: [call('look', 2)] };
  return last;
}

/** Returns what the script makes the model reply to a request. */
export function readSaying(request: ChatRequest): Saying {
  const { userText, results } = turnOf(request);
  const { text = '' } = replyOf([line], request);
  return { name: userText, step: STEP_AT[results.length] ?? -1, text };
}

/** Names a call within its conversation by its tool and input. */
export function callNameOf(toolName: string, input: unknown): string {
  const { round = 1 } = (input ?? {}) as { readonly round?: number };
  return `${toolName.replace('bookings__', '')}#${round}`;
}
