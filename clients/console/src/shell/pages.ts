import { html, type TemplateResult } from 'lit';
import type { PageContext } from '../kit/at.ts';
import { ConversationPage } from '../pages/conversation.ts';
import { DeliveryList } from '../pages/deliveries.ts';
import { InsightsPage } from '../pages/insights.ts';
import { OverviewPage } from '../pages/overview.ts';
import { PeoplePage } from '../pages/people.ts';
import { PersonPage } from '../pages/person.ts';
import { OneApproval, OneElicitation } from '../pages/record.ts';
import { ListedApprovals, ListedElicitations } from '../pages/records.ts';
import { TurnPage } from '../pages/turn.ts';
import { TurnList } from '../pages/turns.ts';
import type { ConsolePlace } from '../place.ts';

for (const [name, element] of [
  ['console-overview', OverviewPage],
  ['console-elicitations', ListedElicitations],
  ['console-elicitation', OneElicitation],
  ['console-approvals', ListedApprovals],
  ['console-approval', OneApproval],
  ['console-turns', TurnList],
  ['console-turn', TurnPage],
  ['console-deliveries', DeliveryList],
  ['console-conversation', ConversationPage],
  ['console-people', PeoplePage],
  ['console-insights', InsightsPage],
  ['console-person', PersonPage],
] as const)
  customElements.define(name, element);

/** The element that shows a place. */
export function pageView(place: ConsolePlace, at: PageContext): TemplateResult {
  switch (place.page) {
    case 'overview':
      return html`<console-overview .at=${at} .place=${place}></console-overview>`;
    case 'elicitations':
      return html`<console-elicitations .at=${at} .place=${place}></console-elicitations>`;
    case 'elicitation':
      return html`<console-elicitation .at=${at} .place=${place}></console-elicitation>`;
    case 'approvals':
      return html`<console-approvals .at=${at} .place=${place}></console-approvals>`;
    case 'approval':
      return html`<console-approval .at=${at} .place=${place}></console-approval>`;
    case 'turns':
      return html`<console-turns .at=${at} .place=${place}></console-turns>`;
    case 'turn':
      return html`<console-turn .at=${at} .place=${place}></console-turn>`;
    case 'deliveries':
      return html`<console-deliveries .at=${at} .place=${place}></console-deliveries>`;
    case 'conversation':
      return html`<console-conversation .at=${at} .place=${place}></console-conversation>`;
    case 'person':
      return html`<console-person .at=${at} .place=${place}></console-person>`;
    case 'insights':
      return html`<console-insights .at=${at} .place=${place}></console-insights>`;
    case 'people':
      return html`<console-people .at=${at} .place=${place}></console-people>`;
  }
}
