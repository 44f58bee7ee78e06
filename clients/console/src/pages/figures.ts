import { html, nothing, type TemplateResult } from 'lit';
import type { Counts } from '../api/replies.ts';
import { barsView, type ChartBar } from '../charts/bars.ts';
import type { PageContext } from '../kit/at.ts';
import { emptyNote } from '../parts/notes.ts';
import { wordOf } from '../parts/texts.ts';
import { numberIn, shortDuration } from '../parts/times.ts';

type KindCounts = Counts['elicitations'];
type CountedKind = 'elicitations' | 'approvals';

const OUTCOME_TONES: Readonly<Record<string, string>> = {
  accepted: 'good',
  approved: 'good',
  edited: 'good',
  expired: 'warn',
  denied: 'bad',
  declined: 'bad',
};

/**
 * The figures of one kind of record: how many ended within the window and how, how long people took, and how many are open for
 * each agent.
 */
export function figuresView(at: PageContext, kind: CountedKind, counts: KindCounts): TemplateResult {
  const { words } = at;
  const { lang } = words;
  const { ended, outcomes, answerSeconds, openByAgent, isSampled } = counts;
  const states = kind === 'elicitations' ? words.questionStates : words.approvalStates;
  return html`<section class="panel" aria-labelledby="${kind}-figures">
    <h2 id="${kind}-figures">${words.figuresOf[kind]}</h2>
    <p><strong>${numberIn(lang, ended)}</strong> ${words.endedInWindow}
      ${isSampled ? html`<span class="quiet">${words.isSampled}</span>` : nothing}</p>
    ${
      answerSeconds === undefined
        ? nothing
        : barsView({
            title: words.timeToAnswer,
            lang,
            format: (seconds) => shortDuration(seconds * 1_000, lang),
            bars: [
              { label: words.half, parts: [{ name: words.half, value: answerSeconds.p50, tone: '' }] },
              {
                label: words.nearlyAll,
                parts: [{ name: words.nearlyAll, value: answerSeconds.p95, tone: '' }],
              },
            ],
          })
    }
    ${outcomes.length === 0 ? emptyNote(words.nothingEnded) : barsView({ title: words.outcomesByTrigger, lang, bars: outcomes.map((one) => outcomeBar(one, words.triggers, states)) })}
    ${openByAgent.length === 0 ? nothing : barsView({ title: words.openByAgent, lang, bars: openByAgent.map((one) => agentBar(at, one)) })}
  </section>`;
}

function outcomeBar(
  { trigger, byStatus }: KindCounts['outcomes'][number],
  triggers: Readonly<Record<string, string>>,
  states: Readonly<Record<string, string>>,
): ChartBar {
  return {
    label: wordOf(triggers, trigger),
    parts: Object.entries(byStatus).map(([status, value]) => ({
      name: wordOf(states, status),
      value,
      tone: (Object.hasOwn(OUTCOME_TONES, status) ? OUTCOME_TONES[status] : undefined) ?? 'idle',
    })),
  };
}

function agentBar({ words }: PageContext, of: KindCounts['openByAgent'][number]): ChartBar {
  return {
    label: wordOf(words.noAgents, of.agent),
    parts: [
      { name: words.underOneMinute, value: of.underOneMinute, tone: 'age1' },
      { name: words.toTenMinutes, value: of.underTenMinutes, tone: 'age2' },
      { name: words.toOneHour, value: of.underOneHour, tone: 'age3' },
      { name: words.overOneHour, value: of.overOneHour, tone: 'age4' },
    ],
  };
}
