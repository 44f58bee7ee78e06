const NEWLINE = 10;
const RETURN = 13;

/**
 * Hands on `chunks` and throws what `tooMuch` makes as soon as one message is larger than `bytesMax`: the whole of it,
 * or a single event where the body is a stream of events, which may go on for days.
 */
export async function* limitBytes(
  chunks: AsyncIterable<Uint8Array>,
  { bytesMax, areEvents, tooMuch }: { bytesMax: number; areEvents: boolean; tooMuch: () => Error },
): AsyncGenerator<Uint8Array> {
  const sizeAfter = areEvents ? eventSizes() : totalSize();
  for await (const chunk of chunks) {
    if (sizeAfter(chunk) > bytesMax) throw tooMuch();
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

/** The size of the largest event that the chunk belongs to, so far; an empty line ends an event. */
function eventSizes(): (chunk: Uint8Array) => number {
  let size = 0;
  let lineLength = 0;
  return (chunk) => {
    let largest = 0;
    for (const byte of chunk) {
      size += 1;
      if (byte === NEWLINE) {
        if (lineLength === 0) size = 0;
        lineLength = 0;
      } else if (byte !== RETURN) {
        lineLength += 1;
      }
      if (size > largest) largest = size;
    }
    return largest;
  };
}
