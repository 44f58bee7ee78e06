/** A value in a client's `Accept…` header, in lower case, and its weight; 0 excludes it. */
interface WeightedRange {
  readonly name: string;
  readonly weight: number;
}

// The maximum number of values that are read. A header may be long, but no honest client lists more.
const RANGES_MAX = 30;
const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/u;

/**
 * The values of `Accept`, `Accept-Language` and similar headers (RFC 9110, section 12.4.2). A value with an invalid `q` has the
 * weight 0.
 */
export function rangesOf(header: string): readonly WeightedRange[] {
  return header.split(',', RANGES_MAX).map((text) => {
    const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { name, weight: quality === undefined ? 1 : Number(QUALITY.exec(quality)?.[1] ?? 0) };
  });
}

/**
 * True if `Accept` admits a media type (RFC 9110, section 12.5.1): its most specific range decides. Without the header, all
 * types are admitted.
 */
export function acceptsType(accept: string | undefined, type: `${string}/${string}`): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const ranges = rangesOf(accept);
  const spellings = [type, `${type.split('/')[0]}/*`, '*/*'];
  const [decisive = []] = spellings
    .map((spelling) => ranges.filter(({ name }) => name === spelling))
    .filter((found) => found.length > 0);
  return decisive.some(({ weight }) => weight > 0);
}
