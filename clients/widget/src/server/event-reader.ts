/**
 * Cuts an event stream into events (WHATWG HTML, section server-sent events), fed with its text piece by piece. Ids
 * and retry times are left out: the inbox always begins with a snapshot.
 */
export function createEventReader(onEvent: (event: string, data: string) => void): (text: string) => void {
  /** The line that has no end yet. */
  let rest = '';
  let endedInReturn = false;
  let event = '';
  let data: string[] = [];

  function take(line: string): void {
    if (line === '') {
      if (data.length > 0) onEvent(event || 'message', data.join('\n'));
      event = '';
      data = [];
      return;
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
  }

  return (text) => {
    if (text === '') return;
    // The second half of a line break that was cut in two.
    const lines = (endedInReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\r|\n/);
    endedInReturn = text.endsWith('\r');
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  };
}
