import { html } from '../../kit/html.ts';
import type { LinkStrings } from './strings-en.ts';

export const GERMAN_LINK: LinkStrings = {
  signInWhy: 'Diese Seite verbindet ein Konto eines anderen Dienstes mit Ihrem. Melden Sie sich zuerst an.',
  title: (service) => html`${service} verbinden`,
  lead: (service) => html`Nachrichten dieses Kontos bei ${service} gelten dann als Ihre.`,
  account: 'Konto',
  person: 'Angemeldet als',
  warning: (service) =>
    html`Fahren Sie nur fort, wenn Sie diesen Link selbst in ${service} angefordert haben. ${service} bestätigt im nächsten Schritt, dass das Konto Ihres ist.`,
  proceed: (service) => html`Weiter zu ${service}`,
  signOut: 'Hier ein anderes Konto verwenden',
  linked: {
    title: (service) => html`${service} ist verbunden`,
    what: (service) => html`Die Agenten in ${service} wissen jetzt, wer Sie sind.`,
    next: 'Sie können dieses Fenster schließen. Senden Sie Ihre Nachricht noch einmal.',
  },
  other: {
    title: (service) => html`Das ist ein anderes Konto bei ${service}`,
    what: (service) =>
      html`Dieser Link wurde für ein anderes Konto bei ${service} erstellt als das, mit dem Sie dort angemeldet sind. Nichts wurde verbunden.`,
    next: (service) =>
      html`Wenn der Link Ihrer ist, melden Sie sich bei ${service} mit dem Konto an, das ihn angefordert hat, und öffnen Sie ihn noch einmal. Wenn ihn jemand geschickt hat, beachten Sie ihn nicht.`,
  },
  spent: {
    title: 'Dieser Link gilt nicht mehr',
    what: 'Er wurde benutzt oder ist zu alt.',
    next: 'Schreiben Sie der App noch einmal, um einen neuen zu bekommen.',
  },
};
