import type { ToolCall } from '../run/tool.ts';
import { digestOf } from './message-ids.ts';

/** Shows on the turn's stream what a task has produced so far. */
interface Partials {
  /** Shows a text, if it differs from the last one. Rejects if the run belongs to another pod. */
  show(text: string): Promise<void>;
}

const TEXT_LENGTH_MAX = 4_000;
/** The total length of the partial texts of a call, which the feed of the turn stores. */
const SHOWN_LENGTH_MAX = 64_000;
/** A space, or a character of a script that is written without spaces. Headers contain no characters of these scripts. */
const WORD_END =
  /[\s\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** The partial texts of a call so far. */
type ShownSoFar = {
  /** Total characters of the partial texts. */
  readonly shownLength: number;
  /** Digest of the last partial text. */
  readonly shownDigest?: string | undefined;
};

/** The parts of a call that its partial texts need. */
interface ShowingRun {
  readonly call: Pick<ToolCall, 'toolCallId' | 'appendEvent'>;
  readonly state: ShownSoFar;
  save(change: ShownSoFar): Promise<void>;
}

export function createPartials(run: ShowingRun): Partials {
  return {
    async show(made) {
      const { call, state } = run;
      const text = wholeWords(made);
      const shownLength = state.shownLength + text.length;
      const shownDigest = digestOf([text]);
      if (text === '' || shownDigest === state.shownDigest || shownLength > SHOWN_LENGTH_MAX) return;
      await run.save({ shownLength, shownDigest });
      // If the run can no longer record the text, its next write reports the reason.
      call.appendEvent({ type: 'tool-partial', toolCallId: call.toolCallId, text }).catch(() => undefined);
    },
  };
}

/** The text without its last word, which may be incomplete: a secret is removed only if it is complete. */
function wholeWords(text: string): string {
  const characters = [...text.slice(0, TEXT_LENGTH_MAX)];
  const end = characters.findLastIndex((character) => WORD_END.test(character));
  return characters
    .slice(0, end + 1)
    .join('')
    .trim()
    .toWellFormed();
}
