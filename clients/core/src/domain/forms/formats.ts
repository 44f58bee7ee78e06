/** The string formats of the form subset. Every check takes linear time. */

const EMAIL_LENGTH_MAX = 254;
const EMAIL_LOCAL_LENGTH_MAX = 64;

export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';

const FITS: Record<TextFormat, (text: string) => boolean> = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  'date-time': isDateTime,
};

const FAULTS: Record<TextFormat, string> = {
  email: 'must be an email address such as ada@example.com',
  uri: 'must be an absolute URI such as https://example.com/, and no script or data URI',
  date: 'must be a real date written as YYYY-MM-DD',
  'date-time': 'must be a time with offset (RFC 3339) such as 2026-03-01T09:30:00Z',
};

/** Every format that a schema may name. */
export const TEXT_FORMATS = Object.keys(FITS) as TextFormat[];

/** True when the text has the format. */
export function fitsFormat(format: TextFormat, text: string): boolean {
  return FITS[format](text);
}

/** The English message for a text that does not have the format. */
export function textOfFormat(format: TextFormat): string {
  return FAULTS[format];
}

/** The message for a text without the format; undefined if the text has it. */
export function faultOfFormat(format: TextFormat, text: string): string | undefined {
  return fitsFormat(format, text) ? undefined : textOfFormat(format);
}

/** Accepts a dot-atom, `@`, and a host name with at least two labels, as mail servers do. Quoted local parts are not valid. */
function isEmail(text: string): boolean {
  const at = text.indexOf('@');
  if (text.length > EMAIL_LENGTH_MAX || at < 1 || at > EMAIL_LOCAL_LENGTH_MAX) return false;
  const local = text.slice(0, at).split('.');
  const host = text.slice(at + 1).split('.');
  return (
    local.every((atom) => /^[\w!#$%&'*+/=?^`{|}~-]+$/.test(atom)) &&
    host.length > 1 &&
    host.every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label)) &&
    // The last label has only letters, or is a Punycode label, which also contains digits and hyphens.
    /^[a-z][a-z\d-]+$/i.test(host.at(-1) ?? '')
  );
}

function isUri(text: string): boolean {
  // URL ignores tabs, line breaks and outer blanks, so the stored text would differ from the checked URL.
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  return !['javascript:', 'vbscript:', 'data:'].includes(new URL(text).protocol);
}

function isDate(text: string): boolean {
  // For a day that does not exist, Date gives no date or another one.
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true;
}

function isDateTime(text: string): boolean {
  // Leap seconds are not valid, because Date and most other implementations cannot represent them.
  const clock = /^t([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
  return isDate(text.slice(0, 10)) && clock.test(text.slice(10));
}
