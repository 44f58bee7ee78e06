import { riskNote } from '@parley/core/domain/approvals/risk';
import { callText } from '@parley/core/domain/approvals/tool-title';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import { readableLine } from '@parley/core/domain/readable';
import { createClient, type StreamItem } from '@parley/sdk';
import type { Command } from 'commander';
import { connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson, styled } from '../context.ts';
import { EXIT } from '../exit-code.ts';

interface WatchFlags {
  readonly user?: string;
  readonly after?: string;
}

/** `parley watch`: prints the events of a stream request as they come. */
export function registerWatch(program: Command, context: CliContext): void {
  const command = program
    .command('watch')
    .description('print the events of a stream as they come, until Ctrl+C')
    .argument('<streamRequestId>', 'the stream')
    .option('--user <id>', 'the owner of the stream; required with a service key')
    .option('--after <id>', 'start after this event instead of at the beginning')
    .action(async (id: string, { user, after }: WatchFlags) => {
      const client = createClient(connectionOf(command, context, user === undefined ? 'person' : 'service'));
      const options = {
        signal: context.signal,
        ...(user !== undefined && { userId: user }),
        ...(after !== undefined && { lastEventId: after }),
      };
      for await (const item of client.events(id, options)) {
        if (isJson(command)) printJson(context, item);
        else print(context, lineOf(item, context));
      }
      context.setExitCode(context.signal.aborted ? EXIT.interrupted : EXIT.accepted);
    });
}

function lineOf(item: StreamItem, context: CliContext): string {
  if (item.type === 'stream-reset') return styled(context, 'yellow', 'stream-reset');
  if (item.type === 'other') return readableLine(`${item.event} ${JSON.stringify(item.data)}`);
  if ('approval' in item) {
    const { approvalId, status } = item.approval;
    return readableLine(`${item.type} ${approvalId} ${status} ${JSON.stringify(callText(item.approval))}`);
  }
  const { elicitationId, status, message, risk } = item.elicitation;
  const asker = askerOf(item.elicitation);
  const words = `${asker === undefined ? '' : `${asker}: `}${message}${riskNote(risk)}`;
  const name = styled(context, 'cyan', item.type);
  return `${name} ${readableLine(`${elicitationId} ${status} ${JSON.stringify(words)}`)}`;
}
