/**
 * A message as the page keeps and shows it. Parts are `text`, `tool`, `data-elicitation-request` and `note`, in the
 * order they came; `state` is `running`, `waiting` (for an answer, with no stream), `finished`, `failed`, `unreached` or
 * one of `ENDINGS`; `pods` tells which pod answered which call. Of a reply there are besides
 * - `asked`: what it answers, `{text, key, at}`, until the answer was told or can be found without it;
 * - `phase`: its turn is `new` when nothing was begun, `sent` when that is unknown, then `begun`; or it is `stopping`,
 *   and not sent any more;
 * - `remark`: what the page itself has to say about it.
 */
export function messageOf(role, text) {
  const parts = text === undefined ? [] : [{ type: 'text', id: 'said', text }];
  return { role, parts, state: role === 'user' ? 'finished' : 'running', pods: [] };
}

/** States that say by themselves what has happened. */
export const ENDINGS = {
  stopped: 'Stopped.',
  'out-of-steps': 'The agent took as many steps as it may, and ended before it was done.',
  'too-long': 'This answer became too long, and was cut off.',
  withheld: 'The rest of this answer was withheld.',
  lost: 'What came of this while the page was away can no longer be told.',
};

/** Takes one chunk of an AI SDK UI message stream (v1) into the message; chunks of other kinds change nothing. */
export function take(message, chunk) {
  HANDLERS[chunk.type]?.(message, chunk);
}

/** Nothing is in progress any more in a message that has ended, however it did. */
export function leaveTools({ parts }) {
  for (const part of parts) if (part.state === 'running') part.state = 'left';
}

export const QUESTION = 'data-elicitation-request';

/** The message's question that nobody has answered yet, if there is one. */
export function openQuestionOf({ parts }) {
  return parts.find(({ type, data }) => type === QUESTION && ['pending', 'opened'].includes(data.status))
    ?.data;
}

export const textOf = ({ parts }) =>
  parts
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join(' ');

const HANDLERS = {
  start(message, { messageId }) {
    message.id = messageId;
  },
  'text-start': (message, { id }) => put(message, { type: 'text', id, text: '' }),
  'text-delta'(message, { id, delta }) {
    find(message, 'text', id).text += delta;
  },
  'tool-input-available'(message, { toolCallId, toolName, input }) {
    // What the agent asks of its own accord is shown as a card.
    if (toolName === 'elicit') return;
    put(message, { type: 'tool', id: toolCallId, name: toolName, input, state: 'running' });
  },
  'tool-output-available'(message, { toolCallId, output }) {
    Object.assign(find(message, 'tool', toolCallId), { state: 'done', output });
  },
  'tool-output-error'(message, { toolCallId, errorText }) {
    Object.assign(find(message, 'tool', toolCallId), { state: 'failed', output: errorText });
  },
  // Sent again under the same id whenever the question changes.
  [QUESTION]: (message, { id, data }) => put(message, { type: QUESTION, id, data }),
  'data-tool-auth-required': (message, { id, data }) => note(message, id, data.message),
  error: (message, { errorText }) => note(message, 'error', errorText),
  finish(message, { finishReason, messageMetadata }) {
    const waits = messageMetadata?.parley?.state === 'waiting';
    message.state = waits ? 'waiting' : (STATES[finishReason] ?? 'finished');
  },
};

const STATES = {
  error: 'failed',
  other: 'stopped',
  'tool-calls': 'out-of-steps',
  length: 'too-long',
  'content-filter': 'withheld',
};

function find({ parts }, type, id) {
  return parts.find((part) => part.type === type && part.id === id) ?? {};
}

function note(message, id, text) {
  put(message, { type: 'note', id, text });
}

/** Puts a part at the end, or in the place of the one that has its id. */
function put(message, part) {
  const at = message.parts.findIndex(({ type, id }) => type === part.type && id === part.id);
  if (at === -1) message.parts.push(part);
  else message.parts[at] = part;
}
