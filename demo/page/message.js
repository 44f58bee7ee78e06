/**
 * Creates a message as the page stores and shows it. Parts are `text`, `thinking`, `tool`, `data-elicitation-request`,
 * `data-approval-request` and `note`, in order of arrival. `state` is `running`, `waiting` (for an answer, without a stream), `finished`, `failed`, `unreached` or
 * one of `ENDINGS`. `pods` lists which pod replied to which call. A reply of the agent also has
 * - `asked`: the person's message, `{text, key, at}`, until the reply is complete or can be found without it;
 * - `phase` of its turn: `new` (certainly not begun), `sent` (perhaps begun), `begun`, or `stopping` (not sent again);
 * - `remark`: a note of the page itself.
 */
export function messageOf(role, text) {
  const parts = text === undefined ? [] : [{ type: 'text', id: 'typed', text }];
  return { role, parts, state: role === 'user' ? 'finished' : 'running', pods: [] };
}

/** The sentence that is shown for each of these states. */
export const ENDINGS = {
  stopped: 'Stopped.',
  'out-of-steps': 'The agent took as many steps as it may, and ended before it was done.',
  'too-long': 'This answer became too long, and was cut off.',
  withheld: 'The rest of this answer was withheld.',
  lost: 'The result of this message is no longer available.',
};

/** Applies one chunk of an AI SDK UI message stream (v1) to the message. Unknown types of chunks change nothing. */
export function addChunk(message, chunk) {
  HANDLERS[chunk.type]?.(message, chunk);
}

/** Ends the running tool calls and the thinking of a message that has ended. */
export function endTools(message) {
  message.parts = message.parts.filter(({ type }) => type !== 'thinking');
  for (const part of message.parts) if (['running', 'asking'].includes(part.state)) part.state = 'unfinished';
}

/** Sets the states of a message's tool calls to those in another version of the message. */
export function adoptTools(message, other) {
  for (const part of other.parts) {
    if (part.type === 'tool') Object.assign(find(message, 'tool', part.id), part);
  }
}

export const QUESTION = 'data-elicitation-request';
/** The tool with which an agent asks. Its call is not shown, because its question is a card. */
const ASKING = 'elicit';

export const APPROVAL = 'data-approval-request';

/** The message's approvals that are pending. */
export function findOpenApprovals({ parts }) {
  return parts
    .filter(({ type, data }) => type === APPROVAL && data.status === 'pending')
    .map(({ data }) => data);
}

/** The message's open question, if there is one. */
export function findOpenQuestion({ parts }) {
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
  // A sign that is shown while the model thinks.
  'reasoning-start': (message, { id }) => put(message, { type: 'thinking', id }),
  'reasoning-end'(message, { id }) {
    message.parts = message.parts.filter((part) => part.type !== 'thinking' || part.id !== id);
  },
  'tool-input-available'(message, { toolCallId, toolName, input }) {
    if (toolName === ASKING) return;
    put(message, { type: 'tool', id: toolCallId, name: toolName, input, state: 'running' });
  },
  'tool-output-available'(message, { toolCallId, output, preliminary }) {
    Object.assign(find(message, 'tool', toolCallId), preliminary ? { output } : { state: 'done', output });
  },
  'tool-output-error'(message, { toolCallId, errorText }) {
    Object.assign(find(message, 'tool', toolCallId), { state: 'failed', output: errorText });
  },
  'tool-output-denied'(message, { toolCallId }) {
    Object.assign(find(message, 'tool', toolCallId), { state: 'denied' });
  },
  [APPROVAL](message, { id, data }) {
    put(message, { type: APPROVAL, id, data });
    const tool = find(message, 'tool', data.toolCallId);
    if (['running', 'asking'].includes(tool.state))
      tool.state = data.status === 'pending' ? 'asking' : 'running';
  },
  // This part is sent again with the same id when the question changes.
  [QUESTION]: (message, { id, data }) => put(message, { type: QUESTION, id, data }),
  'data-tool-auth-required': (message, { id, data }) => note(message, id, data.message),
  error: (message, { errorText }) => note(message, 'error', errorText),
  finish(message, { finishReason, messageMetadata }) {
    const waits = messageMetadata?.parley?.state === 'waiting';
    // A stream also ends to wait for approvals. The page reads on once they are decided.
    const isAsking = finishReason === 'tool-calls' && findOpenApprovals(message).length > 0;
    message.state = waits || isAsking ? 'waiting' : (STATES[finishReason] ?? 'finished');
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

/** Appends a part, or replaces the part with the same id. */
function put(message, part) {
  const at = message.parts.findIndex(({ type, id }) => type === part.type && id === part.id);
  if (at === -1) message.parts.push(part);
  else message.parts[at] = part;
}

/** Converts a message of Parley's history to the page's format. */
export function messageFrom({ id, role, parts }) {
  const message = { ...messageOf(role), id, state: 'finished' };
  for (const [at, part] of parts.entries()) {
    if (part.type === 'text') put(message, { type: 'text', id: `${at}`, text: part.text });
    if (part.type === 'dynamic-tool' && part.toolName !== ASKING) put(message, toolFrom(part));
  }
  return message;
}

const TOOL_ENDS = { 'output-available': 'done', 'output-error': 'failed', 'output-denied': 'denied' };

function toolFrom({ toolCallId, toolName, state, input, output, errorText }) {
  const shown = TOOL_ENDS[state] ?? 'unfinished';
  return { type: 'tool', id: toolCallId, name: toolName, input, state: shown, output: output ?? errorText };
}
