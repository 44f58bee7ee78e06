import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { readableLine } from '@parley/shared/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { agentOf } from '../card/head.ts';
import type { Elicitation } from '../elicitation.ts';
import type { ElicitationServer, ElicitationSettled } from '../index.ts';
import type { AllStrings } from '../strings/strings.ts';
import type { InboxLine } from './lines.ts';

/** Without a title, this many characters of the message name the line. */
const NAME_LENGTH = 140;

/** What the view of a line needs besides the line. */
export interface LineContext {
  readonly words: AllStrings;
  readonly overrides: Partial<AllStrings> | undefined;
  readonly server: ElicitationServer;
  readonly isExpanded: boolean;
  /** Its card has been shown once, and stays. */
  readonly hasCard: boolean;
  /** A card of this inbox settled it. */
  readonly isHere: boolean;
  onToggle(button: HTMLElement): void;
  onSettled(event: CustomEvent<ElicitationSettled>): void;
}

/** One line, which unfolds to the card of its question. */
export function lineView({ elicitation, isUnknown }: InboxLine, context: LineContext): TemplateResult {
  const { isExpanded, hasCard } = context;
  const isClosed = isUnknown === true || isTerminal(elicitation.status);
  const id = elicitation.elicitationId;
  return html`
    <li part="item" data-id=${id}>
      <button
        class="disclosure"
        part="disclosure"
        type="button"
        aria-expanded=${isExpanded ? 'true' : 'false'}
        aria-controls=${`card-${id}`}
        aria-describedby=${`about-${id}`}
        @click=${(event: Event) => context.onToggle(event.currentTarget as HTMLElement)}
      >
        <bdi class="name" part="title">${nameOf(elicitation)}</bdi>
      </button>
      <div class="about quiet" part="about" id=${`about-${id}`}>
        ${isClosed ? noteView(elicitation, context) : aboutView(elicitation, context)}
      </div>
      <div class="panel" part="panel" id=${`card-${id}`} ?hidden=${!isExpanded}>
        ${hasCard ? cardView(elicitation, context) : nothing}
      </div>
    </li>
  `;
}

function aboutView(elicitation: Elicitation, { words, server }: LineContext): TemplateResult {
  const { createdAt, expiresAt } = elicitation;
  const now = server.now();
  const remainingMs = Date.parse(expiresAt ?? '') - now;
  return html`
    <bdi part="agent">${words.asks(agentOf(elicitation, undefined, words))}</bdi>
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

function noteView(elicitation: Elicitation, { words, isHere }: LineContext): TemplateResult {
  return html`<span class="note" part="note">${endOf(elicitation, words, isHere)}</span>`;
}

/** The card gets its question once; from then on it follows the question itself. */
function cardView(elicitation: Elicitation, context: LineContext): TemplateResult {
  const id = elicitation.elicitationId;
  return html`
    <elicitation-card
      part="card"
      .server=${context.server}
      .elicitation=${guard([id], () => elicitation)}
      .strings=${context.overrides}
      @elicitation-settled=${context.onSettled}
    ></elicitation-card>
  `;
}

/** How a question ended; if that is unknown, only that it is no longer open. */
export function endOf({ status, mode, reason }: Elicitation, words: AllStrings, isHere: boolean): string {
  return isTerminal(status) ? words.ended({ status, mode, here: isHere, reason }) : words.gone;
}

/** The name of a line: the question's title; without one, the beginning of its message. */
export function nameOf({ title, message }: Elicitation): string {
  const name = readableLine(title?.trim() ? title : message);
  const characters = [...name];
  return characters.length <= NAME_LENGTH ? name : `${characters.slice(0, NAME_LENGTH - 1).join('')}…`;
}
