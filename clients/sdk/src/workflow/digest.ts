import type { Ask } from '../elicit/asks.ts';
import { formOf, isStandardForm } from '../standard-form.ts';

/** A digest of what the person is asked. Functions are ignored, and a schema object counts as its JSON Schema. */
export async function digestOfAsk(ask: Ask): Promise<string> {
  const schema = ask.kind === 'form' ? ask.schema : undefined;
  const plain =
    schema === undefined ? ask : { ...ask, schema: isStandardForm(schema) ? formOf(schema) : schema };
  return digestOf(JSON.stringify(plain));
}

/** SHA-256 of a text, in hexadecimal digits. */
export async function digestOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
