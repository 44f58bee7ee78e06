import { parseFeedPosition, parseReaderPosition } from '@parley/core/domain/events';
import { fitsFormat, TEXT_FORMATS } from '@parley/core/domain/forms/formats';
import { isTypedFraction, readTypedNumber } from '@parley/core/domain/forms/typed-number';
import { parseStreamPath } from '@parley/core/domain/ids';
import { shownName } from '@parley/core/domain/issue';
import { readableLine } from '@parley/core/domain/readable';
import { faultOfProse, faultOfUserId } from '@parley/core/domain/text';
import { faultOfUrl } from '@parley/core/domain/url';
import { visible, visibleLabels } from '@parley/core/domain/visible';
import { faultsOfEdit } from '@parley/shared/domain/approvals/edit';
import { MASK, maskArguments } from '@parley/shared/domain/approvals/mask';
import { parseIdempotencyKey } from '@parley/shared/domain/idempotency-key';
import { limitDepth } from '@parley/shared/domain/json/depth';
import { bearerFirst, isDpop } from '@parley/shared/domain/oauth/challenge';
import { scopesOfList } from '@parley/shared/domain/oauth/scopes';
import { mayHoldSecret, mentionsSecret, namesSecret } from '@parley/shared/domain/secret-words';
import { createLog } from '@parley/shared/observe/log';
import { expect, it } from 'vitest';
import { createSseParser } from '../../clients/core/src/sse-parser.ts';
import { textOf } from '../../services/api/src/agents/a2a/outcome.ts';
import { readQuestions } from '../../services/api/src/agents/a2a/read-questions.ts';
import { holdsSecret } from '../../services/api/src/agents/config/literal-secret.ts';
import { faultOfArguments } from '../../services/api/src/agents/loop/model/argument-fault.ts';
import { modelToolName } from '../../services/api/src/agents/mcp/calls/tool-name.ts';
import { readQuestion } from '../../services/api/src/agents/mcp/questions/question.ts';
import { secretFieldByTexts } from '../../services/api/src/agents/mcp/questions/secret-fields.ts';
import {
  createEventSplitter,
  dataOf,
  withData,
} from '../../services/api/src/agents/mcp/transports/events.ts';
import { createNoteLimit } from '../../services/api/src/agents/mcp/transports/note-limit.ts';
import { parseJson } from '../../services/api/src/http/json.ts';
import { argumentsText } from '../../services/api/src/surfaces/slack/mapping/arguments.ts';
import { messagesOfUnits } from '../../services/api/src/surfaces/slack/mapping/markdown/blocks.ts';
import { unitsOf } from '../../services/api/src/surfaces/slack/mapping/markdown/document.ts';
import { mentionedText, shownText } from '../../services/api/src/surfaces/slack/mapping/mentions.ts';
import { clippedToSize, lineText, piecesOf } from '../../services/api/src/surfaces/slack/mapping/text.ts';
import { readPart } from '../../services/api/src/turns/content/read-part.ts';
import { isFullSize } from '../harness/proof-size.ts';

// Functions that read what others write: of each, the time must grow with the length of the text, not with its square.

const FORM = { type: 'object', properties: { text: { type: 'string', title: 'Text' } } } as const;
const log = createLog({ service: 'api', level: 'info', pod: 'pod' }, { write: () => undefined });
const inAuth = { state: 'TASK_STATE_AUTH_REQUIRED' };

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  ...Object.fromEntries(
    TEXT_FORMATS.map((format) => [`the format ${format}`, (text: string) => fitsFormat(format, text)]),
  ),
  'a number': (text) => readTypedNumber('integer', text),
  'a fraction': (text) => isTypedFraction(`0.${text}`),
  'an idempotency key': parseIdempotencyKey,
  'a stream path': parseStreamPath,
  'a position': (text) => [parseFeedPosition(text), parseReaderPosition(text)],
  'the name of a field': shownName,
  'the depth of JSON': limitDepth,
  'a list of scopes': scopesOfList,
  'a challenge': (text) => [bearerFirst(text), isDpop(text)],
  'a readable line': readableLine,
  prose: (text) => [faultOfProse(text, 1e9), faultOfUserId(text)],
  'visible text': visible,
  'visible labels': (text) => visibleLabels({ title: text, properties: { [text]: { description: text } } }),
  'the name of a secret': (text) => [namesSecret(text), mentionsSecret(text), mayHoldSecret(text)],
  'masked arguments': (text) => maskArguments({ [text]: text, list: [text, text] }, FORM),
  'an edit': (text) =>
    faultsOfEdit({ arguments: { text, password: MASK }, masked: ['/password'] }, { text, password: MASK }),
  'a url': (text) => faultOfUrl(text, { allowLoopbackHttp: true }),
  'a line of the log': (text) => log.error({ err: new Error(text) }, text),
  'the stream of a pod': createSseParser({ onEvent: () => undefined }),
  'the parts of a remote agent': (text) => textOf([{ text }]),
  'the question of a remote agent': (text) =>
    readQuestions({ status: { state: inAuth.state, message: { messageId: 'm', parts: [{ text }] } } }, true),
  'a literal secret': holdsSecret,
  'the arguments of a model': (text) => faultOfArguments('tool', JSON.stringify({ text })),
  'arguments that are cut': (text) => faultOfArguments('tool', `{"text":"${text}`),
  'the name of a tool': (text) => modelToolName('server', text),
  'the question of a server': (text) =>
    readQuestion({ message: text.slice(0, 10_000), requestedSchema: FORM }, { form: true, url: true }),
  'a question for a secret': (text) => secretFieldByTexts(text, FORM),
  'the events of a stream': (text) =>
    createEventSplitter()
      .take(Buffer.from(text))
      .map((event) => withData(event, dataOf(event))),
  'a note': (text) => createNoteLimit({ release: () => undefined }).take(`{"method":"notifications/${text}`),
  'a body of JSON': parseJson,
  'a file of a message': (text) => [
    readPart({ type: 'file', url: text, mediaType: text, filename: text }),
    readPart({ type: 'file', url: `data:image/png;base64,${text}` }),
    readPart({ type: 'file', url: `data:${text}` }),
  ],
  'arguments in Slack': (text) => argumentsText({ [text]: text }),
  'text in Slack': (text) => [clippedToSize(text, 1e6), lineText(text, 1e6)],
  'Markdown in Slack': (text) => messagesOfUnits([unitsOf(text)], { json: 9_000, blocks: 45 }),
  'a message of Slack': (text) => shownText(mentionedText(text, 'UBOT'), () => undefined),
  'pieces in Slack': (text) => piecesOf(text, 30),
};

const UNITS = [
  ...[
    'a',
    '1',
    '0.',
    '-',
    '/',
    '.',
    '=',
    '"',
    '\\',
    '\\"',
    '<',
    '&',
    '*',
    '**',
    '_',
    '`',
    '[',
    '{',
    '@',
    ', ',
    '?',
  ],
  ...[
    ' ',
    '\t',
    '\n',
    '\r',
    'é',
    '🙂',
    '\ud83d',
    '\u202e',
    'aB',
    'your password ',
    'eyJ-',
    'eyJa.',
    'Unexpected ',
  ],
  ...['with args beginning with: ', 'https://', 'Bearer ', 'data:', ':', '%41', 'a@', '-----BEGIN '],
];
const ENDS = ['', '\u0000', '\n\n'];
const LENGTH = 30_000;
// Most patterns that take the square of the length do so where the text ends with what they refuse. A daily run tries that end
// of each text, and the end of an event for a quarter of them, in each run for others.
const REFUSED = '\u0000';
const QUARTER = Math.floor(Math.random() * 4);
const endsOf = (at: number) => {
  if (isFullSize) return ENDS;
  return at % 4 === QUARTER ? [REFUSED, '\n\n'] : [REFUSED];
};

it.each(Object.entries(READERS))('%s', (_what, read) => {
  /** The time that the processor takes for a text, in ms. */
  const run = (text: string): number => {
    const before = process.cpuUsage();
    try {
      read(text);
    } catch {
      // What is refused has been read, too.
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const textOf = (unit: string, end: string, length: number) => unit.repeat(length / unit.length) + end;
  for (const [at, unit] of UNITS.entries())
    for (const end of endsOf(at)) {
      // A square of this length takes hundreds; whatever is quick enough needs no second look.
      if (run(textOf(unit, end, LENGTH)) < 50) continue;
      const least = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
      // The process collects the garbage of other files, too. A square stays a square however often it is looked at.
      for (let look = 0; look < 3 || (look < 12 && least.long / least.short >= 8); look += 1) {
        least.short = Math.min(least.short, run(textOf(unit, end, LENGTH / 4)));
        least.long = Math.min(least.long, run(textOf(unit, end, LENGTH)));
      }
      expect(least.long / least.short, JSON.stringify([unit, end])).toBeLessThan(8);
    }
});
