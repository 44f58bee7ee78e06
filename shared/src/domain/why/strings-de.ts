import type { WhyStrings } from './strings.ts';
import { type Moment, timesIn } from './times.ts';

const { ago: since, ahead: until, length: lasting } = timesIn('de');
const clockOf = ({ clock, day }: Moment) => (day === undefined ? clock : `${clock} am ${day}`);
const afterFailed = (attempts: number) =>
  attempts === 0
    ? ''
    : `, nach ${attempts} ${attempts === 1 ? 'gescheiterten Versuch' : 'gescheiterten Versuchen'}`;
const begun = (turn: string, agent: string, ago: number) =>
  `Der Lauf ${turn} des Agenten ${agent} begann ${since(ago)}`;

const OWN_REASONS = {
  run_stopped: 'der Lauf, der fragte, wurde angehalten oder endete',
  superseded: 'etwas Neueres trat an die Stelle',
  undeliverable: 'nichts, was die Person nutzt, konnte es zeigen',
  user_erased: 'die Person wurde gelöscht',
};
const ASKED = {
  pending: ' und hat nicht geantwortet',
  opened: ', hat die Seite geöffnet und ist dort nicht fertig',
  ended: '',
};
const DECISIONS: ReadonlyMap<string, string> = new Map([
  ['accepted', 'beantwortet'],
  ['declined', 'abgelehnt'],
  ['cancelled', 'verworfen'],
  ['approved', 'freigegeben'],
  ['edited', 'geändert und freigegeben'],
  ['denied', 'verweigert'],
]);
const ENDINGS = { finished: 'wurde fertig', failed: 'scheiterte', stopped: 'wurde angehalten' };

export const GERMAN_WHY: WhyStrings = {
  asked: ({ name, ago, trigger, tool, state }) =>
    `${name} wurde ${since(ago)} gefragt (${trigger}${tool === undefined ? '' : ` für ${tool}`})${ASKED[state]}.`,
  askedToApprove: ({ name, ago, tool, state }) =>
    `${name} wurde ${since(ago)} um die Freigabe${tool === undefined ? '' : ` von ${tool}`} gebeten${ASKED[state]}.`,
  expires: ({ at, ahead }) => `Ohne Antwort läuft die Zeit dafür um ${clockOf(at)} ab, ${until(ahead)}.`,
  overdue: ({ ago }) =>
    `Die Frist endete ${since(ago)}, und nichts hat sie bisher durchgesetzt: Bleibt es so, räumt kein Pod und kein Worker auf.`,
  expired: ({ length }) => `Die Frist lief ${lasting(length)} später ab: Bis dahin hat niemand geantwortet.`,
  withdrawn: ({ length, reason, own }) =>
    `Es wurde ${lasting(length)} später zurückgezogen${reason === undefined ? '' : `, mit dem Grund ${reason}`}${own === undefined ? '' : `: ${OWN_REASONS[own]}`}.`,
  decided: ({ decision, name, length, surface }) =>
    `Das hat ${name} ${lasting(length)} später ${DECISIONS.get(decision) ?? decision}${surface === undefined ? '' : `, auf der Oberfläche ${surface}`}.`,

  noStream: ({ name }) =>
    `${name} hat auf keinem Pod einen Ereignisstrom offen: Weder ein Chat noch ein Posteingang folgt jetzt. Clients, die abfragen, etwa die von MCP und A2A, halten keinen offen.`,
  streams: ({ name, streams }) =>
    `${name} hat ${streams.length === 1 ? 'einen Ereignisstrom' : `${streams.length} Ereignisströme`} offen: ${streams.join(', ')}.`,
  noChannel: ({ channel }) =>
    `Die Benachrichtigung soll über ${channel} kommen, was in dieser Installation nicht eingerichtet ist.`,
  notLinked: ({ name, channel }) =>
    `Die Benachrichtigung soll über ${channel} kommen, aber ${name} ist dort nicht verbunden.`,
  linked: ({ name, channel, ahead }) => {
    const linked = `${name} ist mit ${channel} verbunden`;
    if (ahead === undefined) return `${linked}.`;
    return ahead > 0
      ? `${linked}; die Benachrichtigung kommt dort ${until(ahead)}.`
      : `${linked}; die Benachrichtigung ist gesendet oder fällig.`;
  },

  turn: ({ turn, agent, ago, state }) =>
    `${begun(turn, agent, ago)} und ${state === 'stopping' ? 'soll anhalten' : 'ist nicht zu Ende'}.`,
  turnEnded: ({ turn, agent, ago, status, endedAgo }) =>
    `${begun(turn, agent, ago)} und ${ENDINGS[status]} ${since(endedAgo)}.`,
  held: ({ pod, isStopping }) =>
    `Der Pod ${pod} hält ihn${isStopping ? ' und beendet ihn, wenn er das nächste Mal schreibt' : ''}.`,
  orphaned: ({ pod }) =>
    `Den Pod ${pod}, der ihn hielt, gibt es nicht mehr: Ein anderer übernimmt ihn in Sekunden.`,
  queued: () => 'Kein Pod hält ihn: Er wartet, bis einer Platz hat.',
  detached: ({ restsUntil }) =>
    `Er ist abgelöst: Kein Pod hält ihn, und er geht weiter, wenn zu Ende ist, worauf er wartet${restsUntil === undefined ? '' : `, spätestens um ${clockOf(restsUntil)}`}.`,
  detachedStopping: () =>
    'Er ist abgelöst: Kein Pod hält ihn, und ein Worker gibt ihn einem, der ihn beendet. Bleibt es so, läuft kein Worker: Setzen Sie ihn fort.',
  podsDied: ({ count }) =>
    count === 1
      ? '1 Pod, der ihn hielt, ist ausgefallen.'
      : `${count} Pods, die ihn hielten, sind ausgefallen.`,
  waits: ({ id, trigger, length, openUntil }) =>
    `Er wartet schon ${lasting(length)} auf ${id} (${trigger}), ${openUntil === undefined ? 'was zu Ende ist' : `offen bis ${clockOf(openUntil)}`}.`,
  waitEnded: () =>
    'Worauf er wartete, ist zu Ende, also setzt ein Worker oder ein Leser ihn fort. Bleibt es so, läuft kein Worker: Setzen Sie ihn fort.',
  called: ({ tool, ago }) =>
    `Der Aufruf von ${tool} wurde ${since(ago)} gesendet und ist nicht zurückgekehrt.`,
  delegated: ({ tool, turn, ago }) =>
    `Er wartet auf den Lauf ${turn}, an den ${tool} ${since(ago)} delegiert hat.`,
  more: ({ count, what }) =>
    `So ist es auch bei ${count} weiteren ${what === 'calls' ? 'Aufrufen' : 'Wartezeiten'}.`,
  worksFor: ({ turn }) => `Er arbeitet für den Lauf ${turn}.`,

  delivering: ({ delivery, attempts }) => `Die Zustellung ${delivery} ist unterwegs${afterFailed(attempts)}.`,
  deliveryAhead: ({ delivery, attempts, ahead }) =>
    `Die Zustellung ${delivery} kommt ${until(ahead)}${afterFailed(attempts)}.`,
  deliveryDue: ({ delivery, attempts }) =>
    `Die Zustellung ${delivery} ist fällig${afterFailed(attempts)}: Bleibt es so, läuft kein Worker.`,
  deliveryDead: ({ delivery, attempts, ago, fault, status }) =>
    `Die Zustellung ${delivery} wurde ${since(ago)} aufgegeben${afterFailed(attempts)}; der letzte Versuch endete mit ${fault}${status === undefined ? '' : ` ${status}`}. Stellen Sie sie erneut zu, sobald ihr Empfänger arbeitet.`,
};
