import { addIssue, type Issue, shownName } from '../issue.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { isRecord, own } from '../plain-record.ts';
import { textOfFault } from './fault.ts';
import { faultOfMatch } from './pattern.ts';
import type { FormSchema } from './schema.ts';
import { checkValue, type FormValue } from './value.ts';

/** A person's answer to a form, by field name. */
export type FormContent = Record<string, FormValue>;

type FormAnswerCheck = { ok: true; content: FormContent } | { ok: false; issues: Issue[] };

/**
 * Checks an answer against a schema that `checkFormSchema` returned, and copies it with its keys in the order of the
 * schema. Accepts any value and never throws. Values are neither coerced nor filled in: an absent optional field stays
 * absent. Unknown keys are refused. Issue paths are field names; messages never repeat the answer.
 */
export function checkFormAnswer(schema: FormSchema, content: unknown): FormAnswerCheck {
  const issues: Issue[] = [];
  if (!isRecord(content)) {
    addIssue(issues, '', 'must be an object with one entry for each field');
    return { ok: false, issues };
  }
  const answered: [string, FormValue][] = [];
  for (const [name, field] of Object.entries(schema.properties)) {
    const value = own(content, name);
    if (value === undefined) {
      if (schema.required?.includes(name)) addIssue(issues, name, textOfFault({ rule: 'required' }));
      continue;
    }
    const check = checkValue(field, value);
    const fault = check.ok ? faultOfMatch(field, check.value) : textOfFault(check.fault);
    if (fault !== undefined) addIssue(issues, name, fault);
    else if (check.ok) answered.push([name, check.value]);
  }
  for (const name of Object.keys(content)) {
    if (Object.hasOwn(schema.properties, name) || content[name] === undefined) continue;
    addIssue(issues, shownName(name), 'is not a field of this form; remove it');
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, content: Object.fromEntries(answered) };
}

/** True when two checked answers are equal. The order of keys does not matter; the order of chosen values does. */
export function sameContent(a: FormContent, b: FormContent): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
