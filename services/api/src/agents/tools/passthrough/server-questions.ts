/**
 * Asks the questions of one server call, within limits, under ordinals that every pod finds again. Recording rounds is in
 * `send-call.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import { sha256 } from '@parley/shared/records/digest';
import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import { TooManyQuestions } from '../../mcp/errors.ts';
import type { McpAsker, RequiredPage, Visited } from '../../mcp/questions/asker.ts';
import type { ClientAsk, ServerReply, ServerRequest } from '../../mcp/questions/client-ask.ts';
import { answerFor, QuestionRefused, type ServerQuestion } from '../../mcp/questions/question.ts';
import type { AgentQuestion, AskOutcome } from '../../run/question.ts';
import type { ToolCall } from '../../run/tool.ts';
import type { AskClient } from './client-asks.ts';

export interface QuestionLimits {
  /** How many questions a server may ask in one call. */
  readonly questionsMax: number;
  /** How long the person may take to answer each question. */
  readonly questionTimeoutSeconds: number;
  /** Asks the client of the turn. Absent if the client provides no services to servers. */
  readonly askClient?: AskClient | undefined;
  /** Present if the agent's own model writes the texts. */
  readonly samples?: SampleLimits | undefined;
}

/** Limits of the texts that an agent's own model writes for a server. */
export interface SampleLimits {
  readonly perCall: number;
  /** The maximum number of tokens in one text. */
  readonly tokensMax: number;
}

/** The questions of a server during one call. */
export interface ServerQuestions extends McpAsker {
  /** The number of questions asked, including refused ones. */
  readonly count: number;
  /** The number of texts that the agent's own model was asked to write. */
  readonly sampled: number;
  /** Addresses of pages that the person agreed to open. */
  readonly opened: ReadonlySet<string>;
  /** Asks under a given ordinal, so that another pod that asks again finds the same question. */
  askAt(ordinal: number, request: ServerRequest, withdrawn: AbortSignal): Promise<ServerReply>;
}

/** Makes the asker of one call. The server's questions become elicitations on the turn's stream. */
export function createServerQuestions(
  call: ToolCall,
  { id, title, modes }: Pick<McpServerRef, 'id' | 'title' | 'modes'>,
  { questionsMax, questionTimeoutSeconds, askClient, samples }: QuestionLimits,
  before: { readonly opened?: readonly string[] | undefined; readonly sampled?: number | undefined } = {},
): ServerQuestions {
  let count = 0;
  let sampled = before.sampled ?? 0;
  const opened = new Set(before.opened);
  const takeOrdinal = () => {
    if (count >= questionsMax) throw new TooManyQuestions(questionsMax);
    count += 1;
    return count - 1;
  };

  async function askPerson(
    ordinal: number,
    question: ServerQuestion,
    withdrawn: AbortSignal,
  ): Promise<AskOutcome> {
    // The digest is part of the key: a repeated call may ask in another order, and each answer belongs to one question only.
    const digest = sha256(JSON.stringify(question));
    const common = {
      message: question.message,
      title: `${title} asks`,
      context: { trigger: 'mcp_elicitation', toolId: id, toolName: title },
      timeoutSeconds: questionTimeoutSeconds,
    };
    const asked: AgentQuestion =
      question.mode === 'form'
        ? { ...common, mode: 'form', requestedSchema: question.requestedSchema }
        : { ...common, mode: 'url', url: question.url, completion: 'client' };
    if (!isAsked(call.reach(asked)))
      throw new QuestionRefused('The client of the user cannot show this question.');
    try {
      return await call.ask(ordinal, asked, { digest, withdrawn, patterns: true });
    } catch (error) {
      if (!isParleyError(error)) throw error;
      const issues = (error.issues ?? []).map(({ path, message }) => `${path} ${message}.`);
      throw new QuestionRefused([error.message, ...issues].join(' '));
    }
  }

  /** Lets a model write a text, or asks the client of the turn. */
  async function askElsewhere(ordinal: number, ask: ClientAsk, withdrawn: AbortSignal): Promise<ServerReply> {
    const timeoutSeconds = questionTimeoutSeconds;
    if (samples === undefined || ask.method !== 'sampling/createMessage') {
      if (askClient === undefined) throw new QuestionRefused('The client cannot be asked for this.');
      return askClient(call, ask, { ordinal, timeoutSeconds, withdrawn });
    }
    sampled += 1;
    const { perCall, tokensMax } = samples;
    if (sampled > perCall) throw new QuestionRefused(`One call may ask for ${perCall} texts.`);
    if (call.sample === undefined) throw new QuestionRefused('This agent has no model.');
    const server = { id, title };
    return call.sample({ ordinal, server, params: ask.params, tokensMax, timeoutSeconds, withdrawn });
  }

  async function askAt(
    ordinal: number,
    question: ServerRequest,
    withdrawn: AbortSignal,
  ): Promise<ServerReply> {
    if (question.mode === 'client') return askElsewhere(ordinal, question, withdrawn);
    // A server of the 2026 revision repeats a page until it is finished. The person has already agreed to open it.
    const isAgain = question.mode === 'url' && opened.has(question.url) && modes?.form === true;
    const asked = isAgain ? finishing([question.url]) : question;
    const outcome = await askPerson(ordinal, asked, withdrawn);
    if (question.mode === 'url' && outcome.status === 'accepted') opened.add(question.url);
    return answerFor(question, outcome);
  }

  /** Throws PageRefused unless the person opens the page or has finished with it. */
  async function open(
    { message, url }: RequiredPage,
    finished: AbortSignal,
    ending: AbortSignal,
  ): Promise<void> {
    const question = { mode: 'url', message, url } as const;
    const withdrawn = AbortSignal.any([finished, ending]);
    const { status, text } = await askPerson(takeOrdinal(), question, withdrawn);
    if (status !== 'accepted' && !finished.aborted) throw new PageRefused(text);
  }

  /** Waits until the person confirms that they have finished with all pages, or the server reports it. */
  async function finish(pages: readonly RequiredPage[], finished: AbortSignal): Promise<void> {
    const question = finishing(pages.map(({ url }) => url));
    const { status, text } = await askPerson(takeOrdinal(), question, finished);
    if (status !== 'accepted' && !finished.aborted) throw new PageRefused(text);
  }

  /**
   * Waits as long as a question would stay open. The person cannot be asked, and a server need not report the end of a page.
   * After that the call is repeated in any case.
   */
  async function finishUnasked({ done }: PageReport): Promise<void> {
    const ending = new AbortController();
    const deadline = sleep(questionTimeoutSeconds * 1000, undefined, { signal: ending.signal, ref: false });
    deadline.catch(() => undefined);
    try {
      await call.waiting(() => Promise.race([done, deadline]));
    } finally {
      ending.abort();
    }
  }

  async function visit(
    pages: readonly RequiredPage[],
    completed: (elicitationId: string) => Promise<void>,
  ): Promise<Visited> {
    // The server has refused the call, so any pod may repeat it.
    await call.notExecuted();
    const reports = pages.map((page) => signalOf(completed(page.elicitationId)));
    const all = signalOf(Promise.all(reports.map(({ done }) => done)));
    const ending = new AbortController();
    try {
      const opening = pages.map((page, at) =>
        open(page, reports[at]?.signal ?? all.signal, ending.signal).catch((error: unknown) => {
          // The other pages are useless without this one.
          ending.abort();
          throw error;
        }),
      );
      await Promise.all(opening);
      if (!all.signal.aborted) await (modes?.form === true ? finish(pages, all.signal) : finishUnasked(all));
    } catch (error) {
      if (!(error instanceof PageRefused)) throw error;
      return {
        message: `${title} needs the user to open a page first. ${error.message} The call was not made.`,
      };
    }
    await call.beforeDispatch();
    return 'done';
  }

  return {
    get count() {
      return count;
    },
    get sampled() {
      return sampled;
    },
    opened,
    async ask(read, withdrawn) {
      const ordinal = takeOrdinal();
      return askAt(ordinal, read(), withdrawn);
    },
    askAt(ordinal, question, withdrawn) {
      count = Math.max(count, ordinal);
      takeOrdinal();
      return askAt(ordinal, question, withdrawn);
    },
    visit,
  };
}

/** A question whether the person has finished with the pages that they opened. */
function finishing(urls: readonly string[]): ServerQuestion {
  const hosts = [...new Set(urls.map((url) => new URL(url).host))].join(', ');
  return {
    mode: 'form',
    message: `Please continue when you have finished at ${hosts}.`,
    requestedSchema: { type: 'object', properties: {} },
  };
}

/** The person did not open a page, or did not finish. The message is for the model. */
class PageRefused extends Error {}

interface PageReport {
  /** Aborted when the report arrives. */
  readonly signal: AbortSignal;
  /** Resolves when the report arrives, and rejects when the call ends. */
  readonly done: Promise<unknown>;
}

function signalOf(report: Promise<unknown>): PageReport {
  const arrived = new AbortController();
  const done = report.finally(() => undefined);
  done.then(
    () => arrived.abort(),
    () => undefined,
  );
  return { signal: arrived.signal, done };
}
