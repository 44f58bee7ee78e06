/** A day in words, in UTC: the time zone of the person is not known. */
export function dayIn(language: 'en' | 'de', ms: number): string {
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : 'de-DE', {
    dateStyle: 'long',
    timeZone: 'UTC',
  }).format(ms);
}
