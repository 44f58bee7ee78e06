/** One command from a client. */
export type SentCommand = { readonly args: readonly string[]; readonly bytes: Buffer };

const CR_LF = 2;

/** Splits the bytes from one client into commands; returns those that `chunk` completes. */
export function createCommandReader(): (chunk: Buffer) => SentCommand[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const commands: SentCommand[] = [];
    for (let command = firstIn(rest); command !== undefined; command = firstIn(rest)) {
      commands.push(command);
      rest = rest.subarray(command.bytes.length);
    }
    return commands;
  };
}

/** The command at the start of `bytes`, once it is whole: `*<count>` and `$<length>` with each argument, or a line. */
function firstIn(bytes: Buffer): SentCommand | undefined {
  const head = lineAt(bytes, 0);
  if (head === undefined) return undefined;
  if (!head.text.startsWith('*')) return { args: head.text.split(' '), bytes: bytes.subarray(0, head.end) };
  const args: string[] = [];
  let at = head.end;
  for (let left = Number(head.text.slice(1)); left > 0; left -= 1) {
    const length = lineAt(bytes, at);
    if (length === undefined) return undefined;
    const end = length.end + Number(length.text.slice(1));
    if (end + CR_LF > bytes.length) return undefined;
    args.push(bytes.toString('utf8', length.end, end));
    at = end + CR_LF;
  }
  return { args, bytes: bytes.subarray(0, at) };
}

function lineAt(bytes: Buffer, from: number): { readonly text: string; readonly end: number } | undefined {
  const end = bytes.indexOf('\r\n', from);
  return end < 0 ? undefined : { text: bytes.toString('latin1', from, end), end: end + CR_LF };
}
