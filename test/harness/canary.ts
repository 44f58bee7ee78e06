import { randomBytes } from 'node:crypto';

/** A marker that occurs nowhere else: put it into a field, then search for it where it must never appear. */
export function canary(label: string): string {
  return `canary-${label}-${randomBytes(12).toString('hex')}`;
}

/** `index` says which of the texts, `form` how the marker was written there, `excerpt` what was around it. */
export type CanarySighting = { index: number; form: 'plain' | 'hex' | 'base64'; excerpt: string };

type Form = { form: CanarySighting['form']; find: (text: string) => number };

/** Finds every text that contains the marker: in any case, as hex, or anywhere inside base64 or base64url. */
export function findCanary(marker: string, texts: Iterable<string>): CanarySighting[] {
  const forms = writtenForms(marker);
  const sightings: CanarySighting[] = [];
  let index = 0;
  for (const text of texts) {
    for (const { form, find } of forms) {
      const at = find(text);
      if (at >= 0) sightings.push({ index, form, excerpt: text.slice(Math.max(0, at - 60), at + 120) });
    }
    index += 1;
  }
  return sightings;
}

function writtenForms(marker: string): Form[] {
  const plain = marker.toLowerCase();
  const hex = Buffer.from(marker).toString('hex');
  return [
    { form: 'plain', find: (text) => text.toLowerCase().indexOf(plain) },
    { form: 'hex', find: (text) => text.toLowerCase().indexOf(hex) },
    ...[0, 1, 2].map((shift): Form => {
      const encoded = base64Inside(marker, shift);
      return {
        form: 'base64',
        find: (text) => text.replaceAll('-', '+').replaceAll('_', '/').indexOf(encoded),
      };
    }),
  ];
}

/** The part of the base64 form that does not depend on what stands around the marker, `shift` bytes into a triple. */
function base64Inside(marker: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(marker)]);
  const sextets = (count: number) => (count * 8) / 6;
  return bytes.toString('base64').slice(Math.ceil(sextets(shift)), Math.floor(sextets(bytes.length)));
}
