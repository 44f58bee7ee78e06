const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const BACKSLASH = 92;
/** The bytes that precede a JSON value: comma, opening bracket, opening brace. */
const BEFORE_VALUE: ReadonlySet<number> = new Set([44, 91, 123]);

/**
 * The limits of one message. A message is the whole body, or a single event of an event stream, which may stay open for days.
 */
export interface MessageBounds {
  readonly bytesMax: number;
  /**
   * The maximum number of JSON values, including nested ones: a message that is small on the wire may be large once it is
   * parsed.
   */
  readonly valuesMax?: number | undefined;
}

/** Passes `chunks` through. Throws the error of `tooLarge` as soon as one message exceeds its limits. */
export async function* limitBytes(
  chunks: AsyncIterable<Uint8Array>,
  {
    bytesMax,
    valuesMax = Number.POSITIVE_INFINITY,
    areEvents,
    tooLarge,
  }: MessageBounds & { areEvents: boolean; tooLarge: () => Error },
): AsyncGenerator<Uint8Array> {
  const sizeAfter = areEvents ? largestSum(true, () => 1) : totalSize();
  const valuesAfter = Number.isFinite(valuesMax) ? largestSum(areEvents, valueCounter()) : () => 0;
  for await (const chunk of chunks) {
    if (sizeAfter(chunk) > bytesMax || valuesAfter(chunk) > valuesMax) throw tooLarge();
    yield chunk;
  }
}

function totalSize(): (chunk: Uint8Array) => number {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    return size;
  };
}

/** The largest sum that a message has reached within this chunk. An empty line ends an event. */
function largestSum(areEvents: boolean, weightOf: (byte: number) => number): (chunk: Uint8Array) => number {
  let sum = 0;
  let lineLength = 0;
  return (chunk) => {
    let largest = 0;
    for (const byte of chunk) {
      sum += weightOf(byte);
      if (areEvents && byte === NEWLINE) {
        if (lineLength === 0) sum = 0;
        lineLength = 0;
      } else if (byte !== RETURN) {
        lineLength += 1;
      }
      if (sum > largest) largest = sum;
    }
    return largest;
  };
}

/**
 * Counts the values of JSON by the bytes that precede them. A line break ends a string as well, because JSON strings contain
 * none.
 */
function valueCounter(): (byte: number) => number {
  let isString = false;
  let isEscaped = false;
  return (byte) => {
    if (byte === NEWLINE || byte === RETURN) {
      isString = false;
      isEscaped = false;
      return 0;
    }
    if (!isString) {
      isString = byte === QUOTE;
      return BEFORE_VALUE.has(byte) ? 1 : 0;
    }
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else isString = byte !== QUOTE;
    return 0;
  };
}
