import { html } from '../../kit/html.ts';
import { durationIn } from '../answer/strings.ts';
import type { InboxStrings } from './strings-en.ts';

export const GERMAN_INBOX: InboxStrings = {
  signInWhy: 'Diese Seite zeigt, was auf Sie wartet. Melden Sie sich an, um es zu sehen.',
  devSignInHelp: 'Die Person, deren Eingang Sie sehen möchten.',
  title: 'Ihr Eingang',
  waiting: 'Das wartet auf Sie',
  empty: 'Nichts wartet auf Sie.',
  counted: (count) => (count === '1' ? 'Ein Vorgang wartet auf Sie.' : `${count} Vorgänge warten auf Sie.`),
  older:
    'Es wartet mehr auf Sie, als diese Seite zeigt. Sie sehen es hier, wenn Sie einiges davon beantwortet haben.',
  again: 'Noch einmal nachsehen',
  live: {
    ended: 'Das wartet nicht mehr auf Sie.',
    unseen: 'Es wartet zu viel auf Sie, um auch diesen Aufruf zu zeigen. Er ist nicht mehr angekreuzt.',
    begun: 'Neu und nicht angekreuzt',
    endedNews: 'Einige dieser Aufrufe sind beendet und nicht mehr angekreuzt.',
    unseenNews: 'Einige dieser Aufrufe können nicht mehr gezeigt werden und sind nicht mehr angekreuzt.',
    begunNews: 'Am Ende der Liste stehen neue Aufrufe. Sie sind nicht angekreuzt.',
    signedOut: 'Sie sind nicht mehr angemeldet. Laden Sie die Seite neu, um sich anzumelden.',
  },
  timeLeft: (leftMs) => `Verbleibende Zeit: ${durationIn('de', leftMs)}`,
  answer: 'Antworten',
  decide: 'Entscheiden',
  answerNamed: (title) => `Antworten: ${title}`,
  decideNamed: (title) => `Entscheiden: ${title}`,
  groupTitle: (agent, tool, count) => html`${agent} möchte „${tool}“ ${count}-mal benutzen`,
  group: {
    decide: 'Zusammen entscheiden',
    decideNamed: (title) => `Zusammen entscheiden: ${title}`,
    lead: 'Ihre Entscheidung gilt für die Aufrufe, die unten angekreuzt sind. Jeder wird für sich entschieden und protokolliert.',
    approve: 'Den angekreuzten zustimmen',
    deny: 'Die angekreuzten ablehnen',
    same: 'In jedem Aufruf gleich',
    differing: 'Das unterscheidet sich',
    call: (number) => `Aufruf ${number}`,
    more: 'Es gibt noch mehr solche Aufrufe. Sie sehen sie, wenn Sie über diese entschieden haben.',
    noneChosen: 'Es wurde nichts entschieden. Kreuzen Sie mindestens einen Aufruf an.',
    partly: (recorded, chosen) => ({
      title: 'Nicht über alle Aufrufe wurde hier entschieden',
      what: `Ihre Entscheidung ist für ${recorded} von ${chosen} Aufrufen gespeichert. Die übrigen waren schon anders beendet, oder die Entscheidung war im Moment nicht möglich.`,
      next: 'Ihr Eingang zeigt, was noch auf Sie wartet.',
    }),
  },
  remembered: 'Gemerkte Zustimmungen',
  rememberedLead:
    'Diese Werkzeuge benutzen Agenten, ohne Sie zu fragen, weil Sie im Voraus zugestimmt haben.',
  rememberedEmpty: 'Es gibt keine. Agenten fragen Sie jedes Mal.',
  inConversation: 'In einem Gespräch',
  until: (day) => `Bis ${day}`,
  forget: 'Vergessen',
  forgetNamed: (tool) => `Zustimmung vergessen: ${tool}`,
  accounts: 'Verbundene Konten',
  back: 'Zu Ihrem Eingang',
  elsewhere: {
    title: 'Hier gibt es keinen Eingang',
    what: 'Auf diesen Seiten meldet sich niemand an. Deshalb ist nicht bekannt, wessen Eingang zu zeigen ist.',
    next: 'Suchen Sie in der Anwendung mit dem Chat, was auf Sie wartet.',
  },
};
