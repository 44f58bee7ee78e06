import { SdkError, SdkErrorCode, UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import type { McpAsker, RequiredPage } from './asker.ts';
import type { AskingCall, ConnectionQuestions } from './connection-questions.ts';
import { type QuestionModes, readQuestion } from './question.ts';

const PAGES_MAX = 10;

/** The person did not visit the pages. The message is a sentence. Extends the SDK's error, which is passed on unchanged. */
export class PagesNotVisited extends SdkError {
  constructor(message: string) {
    super(SdkErrorCode.InvalidResult, message);
  }
}

/**
 * Sends a call. If the server refuses it with -32042 (2025-11-25), the person visits the pages of the error, and the call is
 * sent once more. Another -32042 is thrown like any other error.
 */
async function sendWithPages<T>(
  send: () => Promise<T>,
  { asker, exchange }: AskingCall,
  questions: Pick<ConnectionQuestions, 'completed'>,
  modes: QuestionModes,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof UrlElicitationRequiredError) || !modes.url) throw error;
    const pages = pagesOf(error, modes);
    const visited = await exchange.waiting(() =>
      asker.visit(pages, (elicitationId) => questions.completed(elicitationId, exchange.signal)),
    );
    if (visited !== 'done') throw new PagesNotVisited(visited.message);
    return send();
  }
}

/** The parts of a request that the server's questions need. */
interface AskingRequest extends Pick<AskingCall, 'exchange'> {
  readonly asker: McpAsker | undefined;
  readonly questions?: ConnectionQuestions | undefined;
  readonly modes?: QuestionModes | undefined;
}

/** Sends a request during which the server may ask, if there is an asker. */
export function sendAsking<T>(
  send: () => Promise<T>,
  { asker, exchange, questions, modes }: AskingRequest,
): Promise<T> {
  if (asker === undefined || questions === undefined || modes === undefined) return send();
  const call = { asker, exchange };
  return questions.during(call, () => sendWithPages(send, call, questions, modes));
}

/** The pages in the error. Throws QuestionRefused if they are malformed. */
function pagesOf({ elicitations }: UrlElicitationRequiredError, modes: QuestionModes): RequiredPage[] {
  const given: unknown = elicitations;
  const pages = Array.isArray(given) ? given.slice(0, PAGES_MAX + 1) : [];
  if (pages.length === 0 || pages.length > PAGES_MAX)
    throw new PagesNotVisited(`The server requires ${pages.length === 0 ? 'no' : 'too many'} pages.`);
  return pages.map((page) => {
    const question = readQuestion(page, modes);
    if (question.mode !== 'url' || question.serverId === undefined)
      throw new PagesNotVisited('The server requires a page without an address or an id.');
    return { message: question.message, url: question.url, elicitationId: question.serverId };
  });
}
