import { unlessSilent } from './silence.js';

/**
 * Reads server-sent events (WHATWG HTML, 9.2) off a response: yields `{id, data}` per event, `id` being the last one
 * named so far. Throws when the connection breaks, or brings nothing for too long; a stream may also just end.
 */
export async function* eventsOf(response) {
  let id;
  let data = [];
  for await (const line of linesOf(response.body)) {
    if (line === '') {
      if (data.length > 0) yield { id, data: data.join('\n') };
      data = [];
      continue;
    }
    const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read());
      if (done) return;
      const lines = (rest + value).split(/\r?\n/);
      rest = lines.pop();
      yield* lines;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
