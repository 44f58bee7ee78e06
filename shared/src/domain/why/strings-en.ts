import type { WhyStrings } from './strings.ts';
import { type Moment, timesIn } from './times.ts';

const { ago: since, ahead: until, length: lasting } = timesIn('en');
const clockOf = ({ clock, day }: Moment) => (day === undefined ? clock : `${clock} on ${day}`);
const afterFailed = (attempts: number) =>
  attempts === 0 ? '' : `, after ${attempts} attempt${attempts === 1 ? '' : 's'} that failed`;
const begun = (turn: string, agent: string, ago: number) =>
  `The turn ${turn} of the agent ${agent} began ${since(ago)}`;

const OWN_REASONS = {
  run_stopped: 'its turn was stopped or ended',
  superseded: 'something newer took its place',
  undeliverable: 'nothing of the person could show it',
  user_erased: 'its user was erased',
};
const ASKED = {
  pending: ' and has not answered',
  opened: ', opened the page and has not finished there',
  ended: '',
};
const ENDINGS = { finished: 'finished', failed: 'failed', stopped: 'was stopped' };

export const ENGLISH_WHY: WhyStrings = {
  asked: ({ name, ago, trigger, tool, state }) =>
    `${name} was asked ${since(ago)} (${trigger}${tool === undefined ? '' : ` for ${tool}`})${ASKED[state]}.`,
  askedToApprove: ({ name, ago, tool, state }) =>
    `${name} was asked ${since(ago)} for the approval${tool === undefined ? '' : ` of ${tool}`}${ASKED[state]}.`,
  expires: ({ at, ahead }) => `It expires by itself at ${clockOf(at)}, ${until(ahead)}.`,
  overdue: ({ ago }) =>
    `Its deadline passed ${since(ago)} and nothing has expired it yet: if it stays, no pod or worker sweeps.`,
  expired: ({ length }) => `It expired ${lasting(length)} later: nobody answered before the deadline.`,
  withdrawn: ({ length, reason, own }) =>
    `It was taken back ${lasting(length)} later${reason === undefined ? '' : `, with the reason ${reason}`}${own === undefined ? '' : `: ${OWN_REASONS[own]}`}.`,
  decided: ({ decision, name, length, surface }) =>
    `It was ${decision} by ${name} ${lasting(length)} later${surface === undefined ? '' : `, on the surface ${surface}`}.`,

  noStream: ({ name }) =>
    `${name} has no event stream open on any pod: no chat or inbox follows it now. Clients that poll, such as those of MCP and A2A, hold none.`,
  streams: ({ name, streams }) =>
    `${name} has ${streams.length} event stream${streams.length === 1 ? '' : 's'} open: ${streams.join(', ')}.`,
  noChannel: ({ channel }) => `It is to be sent to ${channel}, which this deployment has not configured.`,
  notLinked: ({ name, channel }) => `It is to be sent to ${channel}, but ${name} is not linked there.`,
  linked: ({ name, channel, ahead }) => {
    const linked = `${name} is linked to ${channel}`;
    if (ahead === undefined) return `${linked}.`;
    return ahead > 0
      ? `${linked}, which notifies them ${until(ahead)}.`
      : `${linked}; the notice has been sent or is due.`;
  },

  turn: ({ turn, agent, ago, state }) =>
    `${begun(turn, agent, ago)} and ${state === 'stopping' ? 'was asked to stop' : 'has not ended'}.`,
  turnEnded: ({ turn, agent, ago, status, endedAgo }) =>
    `${begun(turn, agent, ago)} and ${ENDINGS[status]} ${since(endedAgo)}.`,
  held: ({ pod, isStopping }) =>
    `The pod ${pod} holds it${isStopping ? ' and ends it with its next write' : ''}.`,
  orphaned: ({ pod }) => `The pod ${pod} that held it is gone: another one takes it over within seconds.`,
  queued: () => 'No pod holds it: it waits until one has room.',
  detached: ({ restsUntil }) =>
    `It is detached: no pod holds it, and it goes on when what it waits for has ended${restsUntil === undefined ? '' : `, and at ${clockOf(restsUntil)} at the latest`}.`,
  detachedStopping: () =>
    'It is detached: no pod holds it, and a worker hands it to one that ends it; if it stays, no worker runs: resume it.',
  podsDied: ({ count }) => `${count} of its pods died before.`,
  waits: ({ id, trigger, length, openUntil }) =>
    `It has waited for ${id} (${trigger}) for ${lasting(length)}, which ${openUntil === undefined ? 'has ended' : `is open until ${clockOf(openUntil)}`}.`,
  waitEnded: () =>
    'A wait has ended, so a worker or a reader resumes it; if it stays, no worker runs: resume it.',
  called: ({ tool, ago }) => `The call of ${tool} was sent ${since(ago)} and has not returned.`,
  delegated: ({ tool, turn, ago }) =>
    `It waits for the turn ${turn}, to which ${tool} delegated ${since(ago)}.`,
  more: ({ count, what }) => `So it is with ${count} more ${what}.`,
  worksFor: ({ turn }) => `It works for the turn ${turn}.`,

  delivering: ({ delivery, attempts }) => `The delivery ${delivery} is under way${afterFailed(attempts)}.`,
  deliveryAhead: ({ delivery, attempts, ahead }) =>
    `The delivery ${delivery} comes ${until(ahead)}${afterFailed(attempts)}.`,
  deliveryDue: ({ delivery, attempts }) =>
    `The delivery ${delivery} is due${afterFailed(attempts)}: if it stays, no worker runs.`,
  deliveryDead: ({ delivery, attempts, ago, fault, status }) =>
    `The delivery ${delivery} was given up ${since(ago)}${afterFailed(attempts)}; the last one ended with ${fault}${status === undefined ? '' : ` ${status}`}. Deliver it again once its receiver works.`,
};
