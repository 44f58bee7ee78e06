const NEWLINE = 10;
const RETURN = 13;

/**
 * Passes `chunks` through and throws the error of `tooLarge` as soon as one message is larger than `bytesMax`. A message
 * is the whole body, or a single event of an event stream, which may stay open for days.
 */
export async function* limitBytes(
  chunks: AsyncIterable<Uint8Array>,
  { bytesMax, areEvents, tooLarge }: { bytesMax: number; areEvents: boolean; tooLarge: () => Error },
): AsyncGenerator<Uint8Array> {
  const sizeAfter = areEvents ? eventSizes() : totalSize();
  for await (const chunk of chunks) {
    if (sizeAfter(chunk) > bytesMax) throw tooLarge();
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

/** The size so far of the largest event in the chunk. An empty line ends an event. */
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
