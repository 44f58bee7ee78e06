import { AbstractChat, type ChatInit, type ChatState, type ChatStatus, type UIMessage } from 'ai';
import { waitUntil } from '../wait-until.ts';

/** The state of a chat, kept as the React binding keeps it: messages are replaced, never changed. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  #messages: UIMessage[] = [];
  readonly #onShow: (messages: readonly UIMessage[]) => void;

  constructor(onShow: (messages: readonly UIMessage[]) => void) {
    this.#onShow = onShow;
  }

  get messages() {
    return this.#messages;
  }

  set messages(messages: UIMessage[]) {
    this.#messages = messages;
    this.#onShow(messages);
  }

  pushMessage = (message: UIMessage) => {
    this.messages = [...this.#messages, this.snapshot(message)];
  };

  popMessage = () => {
    this.messages = this.#messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.#messages.with(index, this.snapshot(message));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);
}

export interface Finish {
  readonly isAbort: boolean;
  readonly isError: boolean;
  readonly isDisconnect: boolean;
}

/** A chat of the AI SDK without a framework. It records what it showed and how its turns ended. */
export interface PlainChat extends AbstractChat<UIMessage> {
  /** Text of the last message at each change, without repeats in a row. */
  readonly shown: readonly string[];
  /** Statuses of the questions in the last message at each change, without repeats in a row. */
  readonly statuses: readonly string[];
  readonly errors: readonly Error[];
  readonly finishes: readonly Finish[];
  /** The text of the reply as it is shown now. */
  readonly reply: string;
  /** Resolves when it has read a turn to its end, or shows an error. */
  untilSettled(): Promise<void>;
}

type PlainChatClass = new (init: ChatInit<UIMessage>) => PlainChat;

/** The class for the chat of one version of the AI SDK. */
export const plainChatOf = (Base: typeof AbstractChat<UIMessage>): PlainChatClass =>
  class extends Base {
    readonly shown: string[];
    readonly statuses: string[];
    readonly errors: Error[];
    readonly finishes: Finish[];

    constructor(init: ChatInit<UIMessage>) {
      const shown: string[] = [];
      const statuses: string[] = [];
      const errors: Error[] = [];
      const finishes: Finish[] = [];
      const onShow = (messages: readonly UIMessage[]) => {
        const text = replyIn(messages);
        if (text !== shown.at(-1)) shown.push(text);
        const status = statusesIn(messages);
        if (status !== '' && status !== statuses.at(-1)) statuses.push(status);
      };
      super({
        ...init,
        state: new PlainState(onShow),
        onError: (error) => errors.push(error),
        onFinish: ({ isAbort, isError, isDisconnect }) => finishes.push({ isAbort, isError, isDisconnect }),
      });
      this.shown = shown;
      this.statuses = statuses;
      this.errors = errors;
      this.finishes = finishes;
    }

    get reply(): string {
      return replyIn(this.messages);
    }

    async untilSettled(): Promise<void> {
      const ended = () =>
        this.status === 'error' || (this.status === 'ready' && this.finishes.at(-1)?.isAbort === false);
      await waitUntil(ended, { what: `the end of the turn in ${this.id}`, timeoutMs: 120_000, everyMs: 10 });
    }
  };

export const PlainChat = plainChatOf(AbstractChat);

function replyIn(messages: readonly UIMessage[]): string {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return '';
  return last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function statusesIn(messages: readonly UIMessage[]): string {
  const parts = messages.at(-1)?.parts ?? [];
  return parts
    .flatMap((part) =>
      part.type === 'data-elicitation-request' ? [(part.data as { status: string }).status] : [],
    )
    .join(' ');
}
