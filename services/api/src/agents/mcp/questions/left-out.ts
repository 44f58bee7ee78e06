import { DEFAULT_FORM_CAPS } from '@parley/core/domain/forms/bounds';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { type Issue, shownName } from '@parley/core/domain/issue';
import { readableLine } from '@parley/core/domain/readable';

const REASON_LENGTH_MAX = 120;
/** At least this many characters of the note are shown beside any description. */
const NOTE_LENGTH_MIN = 400;

/** A field of the server's schema that is not asked, and why. */
interface LeftOutField {
  readonly name: string;
  readonly fault: Issue;
}

/** The form with a description that names the fields that are not asked and says why, as far as there is room. */
export function withLeftOut(schema: FormSchema, leftOut: readonly LeftOutField[]): FormSchema {
  if (leftOut.length === 0) return schema;
  const reasons = leftOut.map(
    ({ name, fault }) => `${readableLine(shownName(name))} (${cut(fault.message, REASON_LENGTH_MAX)})`,
  );
  const whole = `Not asked here, because it cannot be shown: ${reasons.join('; ')}.`;
  const most = DEFAULT_FORM_CAPS.descriptionLength - 1;
  const given = [...(schema.description ?? '')];
  const note = cut(whole, Math.max(most - given.length, NOTE_LENGTH_MIN));
  const description = cut(given.join(''), most - [...note].length);
  return { ...schema, description: description === '' ? note : `${description}\n${note}` };
}

/** The text, cut to a maximum number of characters. */
function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
