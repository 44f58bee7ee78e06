import { ERROR_CODES, type ErrorCode } from '@parley/core/domain/errors';
import { STATUS_OF } from '../../services/api/src/http/problem.ts';

interface ErrorHelp {
  readonly when: string;
  readonly remedy: string;
}

/** When each error comes and what its caller does. A code without an entry does not compile. */
const HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  invalid_request: {
    when: 'the body, the query or a header is malformed, content is sent where none belongs, or a schema is outside of the [form subset](http-api.md#the-form-subset). Also 405, when the path exists and the method does not (see `Allow`), 408, when the request did not come in time, and 417, for an `Expect` that is not supported',
    remedy: 'Correct what `detail` and `errors` name. The same request fails again.',
  },
  unauthenticated: {
    when: 'the request has no token, or one that is not accepted',
    remedy:
      'Send `Authorization: Bearer …` with a token that has not expired: [who is who](security.md#who-is-who).',
  },
  forbidden: {
    when: 'the caller is of the wrong kind, or the service key lacks the scope. This is decided before anything is looked up',
    remedy:
      'Use a token of the other kind, or give the key the [scope](security.md#service-keys) that the call names.',
  },
  not_found: {
    when: 'the id is unknown or malformed, or what it names is not yours; the reply never tells which',
    remedy: 'Check the id, the tenant of the token, and whether the [retention](security.md) has passed.',
  },
  invalid_answer: {
    when: 'the answer does not fit the form; the question stays open',
    remedy: 'Show the messages in `errors` beside their fields, and send the corrected answer.',
  },
  already_settled: {
    when: 'it has been settled with another outcome or answer',
    remedy: 'Show the outcome in `elicitation` or `approval`. Nothing can change it.',
  },
  expired: {
    when: 'its deadline has passed',
    remedy: 'Ask again, with a longer `timeoutSeconds` if people need it.',
  },
  idempotency_mismatch: {
    when: 'the same key came before with another body or message',
    remedy: 'Use a new `Idempotency-Key` for each new request, and the same one only to repeat a request.',
  },
  stream_owner_mismatch: {
    when: 'the stream request belongs to another user',
    remedy: 'Use a `streamRequestId` of its own for each user, or send none.',
  },
  turn_running: {
    when: 'a turn runs in this conversation, and does not wait for approvals alone',
    remedy: 'Wait for its end, stop it, or resume its stream.',
  },
  user_erased: {
    when: 'this user was erased a moment ago',
    remedy: 'Wait for `Retry-After` if the user may come back.',
  },
  turn_quota: {
    when: 'too many turns of this user run at once, or this tenant has begun too many in a day; the message says which',
    remedy: 'Wait, or raise the [quota](security.md#quotas).',
  },
  token_quota: {
    when: "the model tokens of this user's or tenant's day are used up",
    remedy: 'Wait until the time in the message, or raise the [quota](security.md#quotas).',
  },
  conversation_quota: {
    when: 'this user has too many stored conversations; turns in those still begin',
    remedy: 'Delete a conversation, or raise the [quota](security.md#quotas).',
  },
  storage_quota: {
    when: 'the chats of this user or tenant store too many bytes',
    remedy: 'Delete conversations, or raise the [quota](security.md#quotas).',
  },
  workflow_quota: {
    when: 'the workflows of this user have too many entries',
    remedy: 'Wait until entries have passed their retention, or raise the [quota](security.md#quotas).',
  },
  too_large: {
    when: 'the body is larger than its limit. Also 431, when the headers are',
    remedy: 'Send less, or raise the limit in the [configuration](configuration.md#limits).',
  },
  rate_limited: {
    when: 'one caller sends too many requests',
    remedy:
      'Wait for `Retry-After`. [Operations](operations.md#parleyratelimited) tells how to find the limit.',
  },
  read_quota: {
    when: 'this user or tenant reads too much',
    remedy: 'Wait for `Retry-After`. Follow events instead of reading again and again.',
  },
  unavailable: {
    when: "Redis, or the token issuer's keys, cannot be reached",
    remedy:
      'Wait for `Retry-After`, then send the same request again. The outcome of a write is unknown, and a repeated answer is safe.',
  },
  pod_busy: {
    when: 'this pod runs as many turns, or opens as many event streams, as it may. The reply to an opening has a `Retry-After`',
    remedy: 'Ask again; another pod may have room. [Capacity](capacity.md) tells how many pods a load needs.',
  },
  internal: {
    when: 'Parley has a fault',
    remedy: 'Look into the log of the pod: the reply tells nothing on purpose. Please report it.',
  },
};

/** docs/errors.md, from the product's table of codes and statuses. */
export function errorsPage(): string {
  const sections = ERROR_CODES.flatMap((code) => [
    `## \`${code}\``,
    '',
    `**${STATUS_OF[code]}** ${sentence(HELP[code].when)}`,
    '',
    HELP[code].remedy,
    '',
  ]);
  return [
    '# Errors',
    '',
    'Every error of the [HTTP API](http-api.md) is `application/problem+json` (RFC 9457) with a stable `code`. `detail` says what went',
    'wrong in this case, and `errors` names fields. The clients throw a `ParleyError` with the same `code`. `npm run docs` writes this page',
    "from the product's table.",
    '',
    '| status | code |',
    '|---|---|',
    ...ERROR_CODES.map((code) => `| ${STATUS_OF[code]} | [\`${code}\`](#${code}) |`),
    '',
    ...sections,
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
