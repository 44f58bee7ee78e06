import { html } from '../../kit/html.ts';
import { dayIn } from './strings.ts';
import type { AccountStrings } from './strings-en.ts';

export const GERMAN_ACCOUNTS: AccountStrings = {
  signInWhy: 'Diese Seite zeigt die Konten, die Sie verbunden haben. Melden Sie sich an, um Ihre zu sehen.',
  devSignInHelp: 'Die Person, deren Konten Sie sehen möchten.',
  title: 'Ihre verbundenen Konten',
  lead: 'Agenten dürfen diese Konten in Ihrem Namen nutzen.',
  empty: 'Sie haben kein Konto verbunden. Wenn ein Agent eines braucht, fragt er Sie im Chat.',
  person: 'Angemeldet als',
  state: 'Zustand',
  states: {
    connected: 'Verbunden',
    reconnect_required:
      'Vom Dienst nicht mehr angenommen. Sie werden gebeten, es neu zu verbinden, wenn es gebraucht wird.',
  },
  managed: 'Verbunden über Ihre Anmeldung im Unternehmen',
  savedAt: 'Verbunden oder erneuert am',
  day: (ms) => dayIn('de', ms),
  scopes: 'Berechtigungen',
  renewal: 'Erneuerung',
  renews: 'Wird automatisch erneuert',
  endsByItself: 'Wird nicht erneuert. Der Zugang endet, wenn der Dienst es bestimmt.',
  disconnect: 'Trennen',
  disconnectNamed: (service) => `Trennen: ${service}`,
  signOut: 'Abmelden',
  confirm: {
    title: (service) => html`${service} trennen?`,
    what: (service) =>
      html`Agenten können Ihr Konto bei ${service} dann nicht mehr nutzen. Ihr eigener Zugang zu ${service} ändert sich nicht.`,
    next: 'Wenn ein Agent das Konto wieder braucht, bittet er Sie, es zu verbinden.',
    proceed: 'Trennen',
    back: 'Verbunden lassen',
  },
  disconnected: {
    title: (service) => html`${service} ist getrennt`,
    as: {
      revoked: (service) =>
        html`Ihr Zugang wurde hier gelöscht, und ${service} hat bestätigt, dass er nicht mehr gilt.`,
      unsupported: (service) =>
        html`Ihr Zugang wurde hier gelöscht. ${service} bietet nicht an, ihn von hier aus zu beenden. Sie können ihn dort in den Einstellungen Ihres Kontos beenden.`,
      unavailable: (service) =>
        html`Ihr Zugang wurde hier gelöscht. ${service} war nicht zu erreichen; dort gilt er vielleicht noch. Sie können ihn dort in den Einstellungen Ihres Kontos beenden.`,
      before: (service) => html`Hier ist kein Zugang zu ${service} gespeichert.`,
    },
    next: 'Wenn ein Agent das Konto wieder braucht, bittet er Sie, es zu verbinden.',
    back: 'Alle verbundenen Konten',
  },
  elsewhere: {
    title: 'Konten werden hier nicht gezeigt',
    what: 'Auf diesen Seiten meldet sich niemand an. Deshalb ist nicht bekannt, wessen Konten zu zeigen sind.',
    next: 'Suchen Sie Ihre verbundenen Konten in der Anwendung mit dem Chat.',
  },
  link: 'Verbundene Konten ansehen und trennen',
};
