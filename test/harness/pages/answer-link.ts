import { createTestBrowser, type Shown } from './browser.ts';

/** Opens an answer link as a browser does, and sends the form of its question with these fields. */
export async function answerByLink(link: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
  const { origin, pathname, hash } = new URL(link);
  const browser = createTestBrowser({ publicUrl: origin });
  const entry = await browser.open(pathname);
  const question = await browser.submit(entry, 'open', { token: hash.slice(1) });
  return browser.submit(question, 'accept', fields);
}
