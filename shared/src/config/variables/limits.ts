/**
 * The limits of Parley as variables, so that every limit has a default and a description. The code that enforces a limit is not
 * here.
 */

import { integer } from './schemas.ts';

/** The variables that limit what callers may use. They are part of `Variables`. */
export const LIMIT_VARIABLES = {
  PARLEY_LIMIT_USER_WRITES: integer([300, 1, 1e9], 'Writes of one user in 10 s.'),
  PARLEY_LIMIT_USER_STREAMS: integer([20, 1, 1e6], 'Open event streams of one user.'),
  PARLEY_LIMIT_OPERATOR_STREAMS: integer(
    [20, 1, 1e6],
    'Streams of the changes of a tenant that one operator, or one service key, has open on one pod.',
  ),
  PARLEY_LIMIT_TENANT_OPERATOR_STREAMS: integer([100, 1, 1e6], 'The same of all operators of one tenant.'),
  PARLEY_LIMIT_USER_READS: integer(
    [500, 1, 1e9],
    'Reads of one user in 10 s, opened event streams included.',
  ),
  PARLEY_LIMIT_USER_READ_BYTES: integer(
    [8_388_608, 10_000, 1e12],
    'Bytes that one user is sent in 10 s. The next read is refused, and open event streams pause until the 10 s are over.',
  ),
  PARLEY_LIMIT_USER_WRITE_BYTES: integer(
    [8_388_608, 10_000, 1e12],
    'Bytes of large request bodies (above 16 kB) of one user in 10 s. The next one is refused before it is read.',
  ),
  PARLEY_LIMIT_SERVICE_WRITE_BYTES: integer([67_108_864, 10_000, 1e12], 'The same for one service key.'),
  PARLEY_LIMIT_SERVICE_READ_BYTES: integer(
    [67_108_864, 10_000, 1e12],
    'Bytes that one service key is sent in 10 s. The next read is refused, and open event streams pause until the 10 s are over.',
  ),
  PARLEY_LIMIT_TENANT_READS: integer([100_000, 1, 1e9], 'Reads of all users of one tenant in 10 s.'),
  PARLEY_LIMIT_POD_TURNS: integer(
    [1_000, 1, 1e6],
    'Turns that run on one pod at once. A full pod answers 503 and takes no turns over.',
  ),
  PARLEY_LIMIT_POD_TENANT_TURNS: integer(
    [1_000, 1, 1e6],
    'Turns of one tenant that one pod begins at once, so that no tenant fills every pod.',
  ),
  PARLEY_LIMIT_POD_OPENINGS: integer(
    [1_000, 1, 1e6],
    'Event streams that one pod opens at once, those that wait for it included. Readers beyond get 503 and come back after 1 to 10 s.',
  ),
  PARLEY_LIMIT_TURN_DEATHS: integer(
    [5, 1, 1_000],
    'Pods that may die within ten minutes after they got one turn, unless one lives longer and finishes a step; of all pods, four times as many may die. Then the turn ends with `owners_died`, for it may be what kills them.',
  ),
  PARLEY_LIMIT_TENANT_TURNS: integer(
    [1_000_000, 1, 1e12],
    'Turns that one tenant begins in a day, new conversations among them.',
  ),
  PARLEY_LIMIT_TENANT_TOKENS: integer(
    [1_000_000_000, 1, 1e15],
    'Tokens of models that the turns of one tenant may take in a day.',
  ),
  PARLEY_LIMIT_TENANT_STORED_BYTES: integer(
    [10_737_418_240, 10_000, 1e15],
    'Bytes of messages, steps and tool calls that the chats of one tenant store in a day.',
  ),
  PARLEY_LIMIT_USER_TURNS: integer(
    [20, 1, 1e6],
    'Turns of one user that run at once. A turn that is detached does not count.',
  ),
  PARLEY_LIMIT_USER_TOKENS: integer(
    [5_000_000, 1, 1e12],
    "Tokens of models that one user's turns may take in a day. A turn that runs is not cut; the next one is refused.",
  ),
  PARLEY_LIMIT_USER_CONVERSATIONS: integer([1_000, 1, 1e6], 'Stored conversations of one user.'),
  PARLEY_LIMIT_USER_STORED_BYTES: integer(
    [33_554_432, 10_000, 1e12],
    "Bytes that one user's chats store: histories, and records and feeds of turns. A turn that runs is not cut; the next one is refused.",
  ),
  PARLEY_LIMIT_USER_OPEN: integer([1_000, 1, 1e6], 'Open elicitations of one user.'),
  PARLEY_LIMIT_USER_OPEN_BYTES: integer(
    [67_108_864, 100_000, 1e12],
    'Bytes of the open elicitations of one user.',
  ),
  PARLEY_LIMIT_PAGE_BYTES: integer(
    [262_144, 1_000, 1e9],
    'Bytes of the elicitations in one page of a list, and in one event of an inbox snapshot. A larger elicitation has a page of its own.',
  ),
  PARLEY_LIMIT_USER_HISTORY: integer(
    [1_000, 1, 1e6],
    'Ended elicitations listed for one user; for a short time about a sixteenth more.',
  ),
  PARLEY_LIMIT_ELICITATION_ANSWERS: integer(
    [300, 1, 1e9],
    'Answers to one elicitation, or decisions on one approval, in 10 s.',
  ),
  PARLEY_LIMIT_CONNECT_FORMS: integer(
    [600, 1, 1e6],
    'Forms sent from one address on the connect pages in 10 min. An office may share one address.',
  ),
  PARLEY_LIMIT_CONNECT_FAILURES: integer(
    [30, 1, 1e6],
    'Failed sign-ins, links of other people and refused keys from one address on the connect pages in 10 min.',
  ),
  PARLEY_LIMIT_SERVICE_CALLS: integer([50_000, 1, 1e9], 'Calls with one service key in 10 s.'),
  PARLEY_LIMIT_OPERATOR_CALLS: integer(
    [300, 1, 1e9],
    'Calls of one operator of the console in one tenant in 10 s, the pages of lists and of exports among them.',
  ),
  PARLEY_REFUSAL_DELAY_MS: integer(
    [1_000, 0, 10_000],
    'How long a reply with status 429 waits, once its caller has had 20 of them from this pod in 10 s. 0: no reply waits.',
  ),
  PARLEY_LIMIT_BODY_BYTES: integer([262_144, 1_024, 67_108_864], 'Size of a request body.'),
  PARLEY_LIMIT_MESSAGES_BYTES: integer(
    [4_194_304, 1_024, 67_108_864],
    'Size of a request body with messages, which may hold images.',
  ),
  PARLEY_LIMIT_MESSAGE_CHARACTERS: integer([10_000, 1, 1e6], 'Length of a message.'),
  PARLEY_LIMIT_SCHEMA_BYTES: integer([32_768, 256, 1e7], 'Size of a form schema.'),
  PARLEY_LIMIT_SCHEMA_PROPERTIES: integer([50, 1, 1_000], 'Fields of a form schema.'),
  PARLEY_LIMIT_FEED_EVENTS: integer(
    [10_000, 100, 1e7],
    'Approximate number of events kept of one stream request.',
  ),
  PARLEY_LIMIT_TURN_BYTES: integer([4_194_304, 10_000, 1e9], 'Bytes of events that one turn may append.'),
  PARLEY_LIMIT_HISTORY_MESSAGES: integer([200, 2, 100_000], 'Messages that a conversation remembers.'),
  PARLEY_LIMIT_HISTORY_BYTES: integer(
    [1_048_576, 10_000, 1e9],
    'Bytes of messages that a conversation remembers, without their images. The messages of its latest turn are kept, however large.',
  ),
  PARLEY_LIMIT_HISTORY_IMAGE_BYTES: integer(
    [4_194_304, 10_000, 1e9],
    'Bytes of images, as base64, in the messages that a conversation remembers. Those of its latest turn are kept, however large.',
  ),
  PARLEY_LIMIT_USER_WORKFLOW_ENTRIES: integer([2_000, 1, 1e6], 'Entries of all workflows of one user.'),
  PARLEY_LIMIT_WORKFLOW_POSITIONS: integer([500, 1, 100_000], 'Questions and steps of one workflow.'),
  PARLEY_LIMIT_WORKFLOW_ENTRY_CHARACTERS: integer(
    [65_536, 256, 1e7],
    'Length of an entry of a workflow, which holds the result of a step as JSON.',
  ),
  PARLEY_LIMIT_METRIC_TENANTS: integer(
    [100, 0, 10_000],
    'Tenants that have metrics of their own in one process; later ones are counted as `other`.',
  ),
  PARLEY_LIMIT_LOCAL_TIMERS: integer(
    [200_000, 0, 1e7],
    'Deadlines for which one pod keeps a local timer. The queue handles the others.',
  ),
  PARLEY_LIMIT_KNOWN_BYTES: integer(
    [33_554_432, 100_000, 2 ** 32],
    'Memory for the open questions and approvals that one pod asked, moved or showed: an answer to one of them needs no read.',
  ),

  // The OpenTelemetry SDK reads all its variables itself. Only those are listed here that decide whether the SDK starts.
};
