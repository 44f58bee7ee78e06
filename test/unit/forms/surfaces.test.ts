import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import type { FormField } from '@parley/core/domain/forms/value';
import { readable } from '@parley/core/domain/readable';
import { describe, expect, it } from 'vitest';
import { describeElsewhere } from '../../../clients/cli/src/acp/describe.ts';
import { LEFT } from '../../../clients/cli/src/terminal/screen.ts';
import { readDrafts } from '../../../clients/widget/src/form/drafts.ts';
import { readPostedForm } from '../../../services/api/src/pages/answer/posted-form.ts';
import { controlName, initialValues } from '../../../services/api/src/pages/views/answer/controls.ts';
import { elicitEventOf } from '../../../services/api/src/surfaces/rest/elicit-view.ts';
import { contentOf } from '../../../services/api/src/surfaces/slack/mapping/answer.ts';
import { formModal } from '../../../services/api/src/surfaces/slack/mapping/modal.ts';
import { formWayOf } from '../../../services/api/src/surfaces/slack/mapping/question.ts';
import { clipped } from '../../../services/api/src/surfaces/slack/mapping/text.ts';
import { ODD_FORM, ODD_NAMES, oddField, seenOf } from '../../harness/forms/odd-forms.ts';
import { faultOfView } from '../../harness/slack/blocks.ts';
import { questionRow } from '../../harness/slack/rows.ts';
import {
  enteredUntouched,
  inSlack,
  inTerminal,
  onAnswerPage,
  overAcp,
  type Sighting,
  untouched,
} from './surfaces.ts';

const SURFACES: Readonly<Record<string, ReadonlyMap<string, Sighting>>> = {
  'the answer page': onAnswerPage(),
  'the terminal': await inTerminal(),
  Slack: inSlack(),
  'an editor': overAcp(),
};

function sightingOf(surface: string, name: string): Sighting {
  const found = SURFACES[surface]?.get(name);
  if (found === undefined) throw new Error(`${surface} does not show ${name}.`);
  return found;
}

/** A form with this field alone. */
const alone = (name: string) => ({
  properties: { [name]: ODD_FORM.properties[name] as FormField },
  required: ODD_FORM.required?.filter((one) => one === name) ?? [],
});

describe.each(Object.keys(SURFACES))('%s', (surface) => {
  const isSlack = surface === 'Slack';

  it.each(ODD_NAMES.filter((name) => !(isSlack && oddField(name).isBeyondSlack)))(
    'shows "%s" as all others do',
    (name) => {
      const { hint, ...found } = sightingOf(surface, name);
      const { field, hint: bounds } = oddField(name);
      const { description, ...expected } = seenOf(name);
      // A required field may be answered with nothing, which Slack takes of an optional input only.
      const takesNothing = field.type === 'array' ? !field.minItems : field.default === '' && !field.enum;
      const isRequired = expected.isRequired && !(isSlack && takesNothing);
      const choices = expected.choices.map((one) => (isSlack ? clipped(one, 75) : one));
      expect({ hasLines: expected.hasLines, ...found }).toEqual({
        ...expected,
        isRequired,
        choices,
        initial: expected.initial.map(readable),
      });
      expect(hint).toContain(description ?? '');
      // An editor knows the bounds by the schema, and explains formats itself.
      if (surface !== 'an editor') expect(hint).toContain(bounds ?? '');
      if ((description ?? bounds ?? field.format) === undefined) expect(hint).toBe('');
    },
  );
});

it.each(ODD_NAMES)('Slack has an input for "%s", or leaves it to the page', (name) => {
  const row = questionRow({ requestedSchema: { ...ODD_FORM, ...alone(name) } });
  expect(formWayOf(row.definition) === 'page').toBe(oddField(name).isBeyondSlack === true);
  if (oddField(name).isBeyondSlack !== true) expect(faultOfView({ ...formModal(row) })).toBeUndefined();
});

/** As a page shows a text and a browser posts it. */
const asPosted = (text: string) => readable(text).replace(/\r\n?|\n/g, '\r\n');

it.each(ODD_NAMES)('an untouched "%s" is answered alike', async (name) => {
  const schema = { ...ODD_FORM, ...alone(name) };
  const controls = controlsOf(schema);
  const posted = controls.flatMap((control, at) =>
    initialValues(control).map((value) => [controlName(at), asPosted(value)]),
  );
  const onPage = readPostedForm(schema, new URLSearchParams(posted));
  const inCard = readDrafts(controls, new Map());
  expect(inCard).toEqual(onPage);
  const { kind, initial } = controls[0] as FormControl;
  if (initial !== undefined) expect(inCard).toEqual({ ok: true, content: { [name]: initial } });
  for (const isSensitive of [false, true]) {
    // In a list with a focus Enter is a choice.
    if (!inCard.ok && (kind === 'select' || kind === 'boolean')) break;
    expect(await enteredUntouched(schema, isSensitive)).toEqual(inCard.ok ? inCard.content : LEFT);
  }
  if (oddField(name).isBeyondSlack === true) return;
  const submitted = contentOf(schema, untouched(formModal(questionRow({ requestedSchema: schema })).blocks));
  if (inCard.ok) expect(submitted).toEqual(inCard.content);
  // Slack itself asks for what is required, and so does the check of every answer.
  else expect(checkFormAnswer(schema, submitted).ok).toBe(false);
});

it('the list of fields for agents has the same names', () => {
  const data = { elicitationId: 'el_1', message: 'Which?', requestedSchema: ODD_FORM };
  const event = elicitEventOf({ event: 'elicitation-request', data } as never)?.data as {
    fields: { prompt: string }[];
  };
  expect(event.fields.map(({ prompt }) => prompt)).toEqual(ODD_NAMES.map((name) => seenOf(name).label));
});

it('the text about a question that an editor cannot show has the same names and choices', () => {
  const text = describeElsewhere({ message: 'Which?', requestedSchema: ODD_FORM } as never);
  for (const name of ODD_NAMES) {
    const { label, description, choices } = seenOf(name);
    const offered = choices.length === 0 ? '' : ` (${choices.join(', ')})`;
    expect(text).toContain(`- ${label}${description === undefined ? '' : `: ${description}`}${offered}\n`);
  }
});
