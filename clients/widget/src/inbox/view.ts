/** Renders the rows of an inbox and the texts about their ends. Which rows exist is decided in `rows.ts`. */

import { type Risk, rankOfRisk } from '@parley/core/domain/approvals/risk';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { readableLine } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import type { Approval } from '../approval.ts';
import { type ApprovalSettled, askerOf, isPending, titleOf, toolNameOf } from '../approvals.ts';
import { agentOf } from '../card/head.ts';
import type { Elicitation } from '../elicitation.ts';
import type { ElicitationServer, ElicitationSettled } from '../index.ts';
import type { AllStrings } from '../strings/strings.ts';
import type { InboxLine } from './lines.ts';
import type { InboxRow } from './rows.ts';

/** Without a title, a line is named by this many characters of the message. */
const NAME_LENGTH = 140;

/** What the view of a row needs in addition to the row. */
export interface RowContext {
  readonly words: AllStrings;
  readonly overrides: Partial<AllStrings> | undefined;
  readonly server: ElicitationServer;
  readonly isExpanded: boolean;
  /** True if its card has been shown once; the card then stays. */
  readonly hasCard: boolean;
  /** Whether a card of this inbox settled the record. */
  isHere(id: string): boolean;
  onToggle(button: HTMLElement): void;
  onSettled(event: CustomEvent<ElicitationSettled | ApprovalSettled>): void;
}

/** What a row shows of its record or records. */
interface RowContent {
  readonly name: string;
  readonly agent: string;
  readonly risk: Risk | undefined;
  readonly createdAt: string | undefined;
  readonly expiresAt: string | undefined;
  /** How it ended; undefined while it is open. */
  readonly end: string | undefined;
  readonly card: TemplateResult | typeof nothing;
}

/** One row, which expands to the card of its question or its calls. */
export function rowView(row: InboxRow, context: RowContext): TemplateResult {
  const content =
    'question' in row ? questionContent(row.question, context) : callsContent(row.calls, context);
  const { isExpanded } = context;
  const id = row.id.replaceAll(' ', '.');
  return html`
    <li part="item" data-id=${row.id}>
      <button
        class="disclosure"
        part="disclosure"
        type="button"
        aria-expanded=${isExpanded ? 'true' : 'false'}
        aria-controls=${`card-${id}`}
        aria-describedby=${`about-${id}`}
        @click=${(event: Event) => context.onToggle(event.currentTarget as HTMLElement)}
      >
        <bdi class="name" part="title">${content.name}</bdi>
      </button>
      <div class="about quiet" part="about" id=${`about-${id}`}>
        ${content.end === undefined ? aboutView(content, context) : html`<span class="note" part="note">${content.end}</span>`}
      </div>
      <div class="panel" part="panel" id=${`card-${id}`} ?hidden=${!isExpanded}>${content.card}</div>
    </li>
  `;
}

function aboutView(
  { agent, risk, createdAt, expiresAt }: RowContent,
  { words, server }: RowContext,
): TemplateResult {
  const now = server.now();
  const remainingMs = Date.parse(expiresAt ?? '') - now;
  return html`
    <bdi part="agent">${words.asks(agent)}</bdi>
    ${risk === undefined ? nothing : html`<span class=${risk === 'high' ? 'note' : ''} part="risk">${words.risk(risk)}</span>`}
    ${
      createdAt === undefined
        ? nothing
        : html`<time part="age" datetime=${createdAt}>${words.age(Math.max(0, now - Date.parse(createdAt)))}</time>`
    }
    ${
      expiresAt === undefined || Number.isNaN(remainingMs)
        ? nothing
        : html`<time part="deadline" datetime=${expiresAt} title=${words.until(new Date(expiresAt))}>
            ${words.countdown(Math.max(0, remainingMs))}
          </time>`
    }
  `;
}

/** The row of a question. Its card gets the question once, and then follows it itself. */
function questionContent({ id, item, isUnknown }: InboxLine<Elicitation>, context: RowContext): RowContent {
  const { words, hasCard, server, overrides, onSettled } = context;
  const isClosed = isUnknown === true || isTerminal(item.status);
  return {
    name: nameOf(item),
    agent: agentOf(item, undefined, words),
    risk: item.risk,
    createdAt: item.createdAt,
    expiresAt: item.expiresAt,
    end: isClosed ? endOf(item, words, context.isHere(id)) : undefined,
    card: hasCard
      ? html`<elicitation-card
          part="card"
          .server=${server}
          .elicitation=${guard([id], () => item)}
          .strings=${overrides}
          @elicitation-settled=${onSettled}
        ></elicitation-card>`
      : nothing,
  };
}

/** The row of calls. Its card also gets calls that join the step later, and ignores outdated views. */
function callsContent(lines: readonly InboxLine<Approval>[], context: RowContext): RowContent {
  const { words, hasCard, server, overrides, onSettled } = context;
  const views = lines.map(({ item }) => item);
  const isClosed = lines.every(({ item, isUnknown }) => isUnknown === true || !isPending(item));
  const [first] = lines;
  const deadlines = views.filter(isPending).flatMap(({ expiresAt }) => expiresAt ?? []);
  return {
    name: titleOf(views, words),
    agent: askerOf(first?.item, words),
    risk: highestRisk(views),
    createdAt: first?.item.createdAt,
    expiresAt: deadlines.sort()[0],
    end: isClosed ? endOfCalls(lines, words, context.isHere) : undefined,
    card: hasCard
      ? html`<approval-card
          part="card"
          .server=${server}
          .approvals=${guard([lines.map(({ id }) => id).join()], () => views)}
          .strings=${overrides}
          @approval-settled=${onSettled}
        ></approval-card>`
      : nothing,
  };
}

function highestRisk(views: readonly Approval[]): Risk | undefined {
  return [...views].sort((a, b) => rankOfRisk(a.risk) - rankOfRisk(b.risk))[0]?.risk;
}

/** How the calls of a step ended: one sentence if all ended in the same way, otherwise one for each call. */
export function endOfCalls(
  lines: readonly InboxLine<Approval>[],
  words: AllStrings,
  isHere: RowContext['isHere'],
): string {
  const ends = lines.map(({ id, item }) => endOfApproval(item, words, isHere(id)));
  const [first] = ends;
  if (first !== undefined && ends.every((end) => end === first)) return first;
  return lines.map(({ item }, at) => `${toolNameOf(item)}: ${ends[at]}`).join(' ');
}

/** How an approval ended; if that is unknown, only that it is no longer pending. */
export function endOfApproval({ status, reason }: Approval, words: AllStrings, isHere: boolean): string {
  return status === 'pending' ? words.approvalGone : words.approvalEnded({ status, here: isHere, reason });
}

/** How a question ended; if that is unknown, only that it is no longer open. */
export function endOf({ status, mode, reason }: Elicitation, words: AllStrings, isHere: boolean): string {
  return isTerminal(status) ? words.ended({ status, mode, here: isHere, reason }) : words.gone;
}

/** The name of a line: the question's title, or else the beginning of its message. */
export function nameOf({ title, message }: Elicitation): string {
  const name = readableLine(title?.trim() ? title : message);
  const characters = [...name];
  return characters.length <= NAME_LENGTH ? name : `${characters.slice(0, NAME_LENGTH - 1).join('')}…`;
}
