import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { agentOf } from '../card/head.ts';
import { readableLine } from '../card/text.ts';
import type { Elicitation } from '../elicitation.ts';
import type { ElicitationServer, ElicitationSettled } from '../index.ts';
import type { AllStrings } from '../strings/strings.ts';
import type { InboxItem } from './items.ts';

/** A message stands for a missing title; so much of it names its line. */
const NAME_LENGTH = 140;

/** What a line of the inbox needs besides its item. */
export interface ItemContext {
  readonly words: AllStrings;
  readonly overrides: Partial<AllStrings> | undefined;
  readonly server: ElicitationServer;
  readonly isExpanded: boolean;
  /** Its card was shown once and stays. */
  readonly hasCard: boolean;
  /** This inbox holds the card that ended it. */
  readonly isHere: boolean;
  onToggle(button: HTMLElement): void;
  onSettled(event: CustomEvent<ElicitationSettled>): void;
}

/** A question and the way to its card. */
export function itemView({ elicitation, isLost }: InboxItem, context: ItemContext): TemplateResult {
  const { isExpanded, hasCard } = context;
  const hasLeft = isLost === true || isTerminal(elicitation.status);
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
        ${hasLeft ? noteView(elicitation, context) : aboutView(elicitation, context)}
      </div>
      <div class="panel" part="panel" id=${`card-${id}`} ?hidden=${!isExpanded}>
        ${hasCard ? cardView(elicitation, context) : nothing}
      </div>
    </li>
  `;
}

function aboutView(elicitation: Elicitation, { words, server }: ItemContext): TemplateResult {
  const { createdAt, expiresAt } = elicitation;
  const now = server.now();
  const left = Date.parse(expiresAt ?? '') - now;
  return html`
    <bdi part="agent">${words.asks(agentOf(elicitation, undefined, words))}</bdi>
    ${
      createdAt === undefined
        ? nothing
        : html`<time part="age" datetime=${createdAt}>${words.age(Math.max(0, now - Date.parse(createdAt)))}</time>`
    }
    ${
      expiresAt === undefined || Number.isNaN(left)
        ? nothing
        : html`<time part="deadline" datetime=${expiresAt} title=${words.until(new Date(expiresAt))}>
            ${words.countdown(Math.max(0, left))}
          </time>`
    }
  `;
}

function noteView(elicitation: Elicitation, { words, isHere }: ItemContext): TemplateResult {
  return html`<span class="note" part="note">${endOf(elicitation, words, isHere)}</span>`;
}

/** The card is told what it is once; from then on it follows its question itself. */
function cardView(elicitation: Elicitation, context: ItemContext): TemplateResult {
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

/** How a question ended; where that is not known, only that it waits no more. */
export function endOf({ status, mode, reason }: Elicitation, words: AllStrings, isHere: boolean): string {
  return isTerminal(status) ? words.ended({ status, mode, here: isHere, reason }) : words.gone;
}

/** What a line is called: the title of its question, else how its message begins. */
export function nameOf({ title, message }: Elicitation): string {
  const name = readableLine(title?.trim() ? title : message);
  const characters = [...name];
  return characters.length <= NAME_LENGTH ? name : `${characters.slice(0, NAME_LENGTH - 1).join('')}…`;
}
