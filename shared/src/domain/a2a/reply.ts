import {
  isInterruptedState,
  isTerminalState,
  type TaskState,
  type WireArtifact,
  type WireUpdate,
} from './wire.ts';

/** The id of the artifact that holds the agent's text. */
const REPLY_ARTIFACT = 'reply';

const BLOCK_GAP = '\n\n';
const HALF_CHARACTER = /[\ud800-\udbff]$/;

/** Collects the text of a task while the agent writes it. */
interface TaskReply {
  /** Adds text. Half of a surrogate pair at the end waits for the other half. */
  text(block: string, text: string): readonly WireUpdate[];
  stepStarted(step: number): void;
  /** Removes the text of a step that will be repeated. */
  stepRestarted(step: number): readonly WireUpdate[];
  /** The updates that must be sent before a status. */
  before(state: TaskState): readonly WireUpdate[];
  artifacts(): readonly WireArtifact[];
}

/** Collects an agent's text as one artifact; each block of text is a paragraph. */
export function createReply(
  ref: { readonly taskId: string; readonly contextId: string },
  mode: 'chunks' | 'whole',
): TaskReply {
  let written = '';
  let sent = '';
  let lastBlock: string | undefined;
  let starts: { readonly step: number; readonly length: number }[] = [];

  function artifactOf(text: string): WireArtifact {
    return { artifactId: REPLY_ARTIFACT, name: 'Reply', parts: [{ text }] };
  }

  /** The text that has not been sent yet, without an incomplete surrogate pair at its end. */
  function chunk(): WireUpdate[] {
    const end = HALF_CHARACTER.test(written) ? written.length - 1 : written.length;
    const text = written.slice(sent.length, end).toWellFormed();
    if (text === '') return [];
    const isFirst = sent === '';
    sent = written.slice(0, end);
    return [{ artifactUpdate: { ...ref, artifact: artifactOf(text), ...(!isFirst && { append: true }) } }];
  }

  function whole(isLast: boolean): WireUpdate[] {
    if (written === sent && !isLast) return [];
    if (written === '') return [];
    sent = written;
    const artifact = artifactOf(written.toWellFormed());
    return [{ artifactUpdate: { ...ref, artifact, ...(isLast && { lastChunk: true }) } }];
  }

  return {
    text(block, text) {
      const gap = lastBlock !== undefined && lastBlock !== block && written !== '' ? BLOCK_GAP : '';
      lastBlock = block;
      written += gap + text;
      return mode === 'chunks' ? chunk() : [];
    },
    stepStarted(step) {
      if (!starts.some((start) => start.step === step)) starts.push({ step, length: written.length });
    },
    stepRestarted(step) {
      const start = starts.find((one) => one.step >= step);
      starts = starts.filter((one) => one.step <= step);
      if (start === undefined || start.length === written.length) return [];
      written = written.slice(0, start.length);
      lastBlock = written === '' ? undefined : '';
      if (sent.length <= written.length) return [];
      sent = written;
      return mode === 'chunks' ? [{ artifactUpdate: { ...ref, artifact: artifactOf(written) } }] : [];
    },
    before(state) {
      const isLast = isTerminalState(state);
      if (mode === 'whole') return isLast || isInterruptedState(state) ? whole(isLast) : [];
      if (!isLast || written === '') return [];
      const rest = written.slice(sent.length).toWellFormed();
      const isFirst = sent === '';
      sent = written;
      const artifact = artifactOf(rest);
      return [{ artifactUpdate: { ...ref, artifact, ...(!isFirst && { append: true }), lastChunk: true } }];
    },
    artifacts: () => (written === '' ? [] : [artifactOf(written.toWellFormed())]),
  };
}
