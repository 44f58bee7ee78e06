import {
  createTransport,
  ParleyClientError,
  pathSegment,
  RETRY_DEFAULTS,
  resolveBaseUrl,
} from '@parley/core';
import { readableLine } from '@parley/core/domain/readable';
import type { Command } from 'commander';
import { z } from 'zod';
import { connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson } from '../context.ts';
import { EXIT, usageError } from '../exit-code.ts';

interface WhyFlags {
  readonly user?: string;
  readonly key?: string;
}

const Reply = z.object({ reasons: z.array(z.string()) });

/** `parley why`: explains why a question, an approval or a turn is waiting, or how it ended. */
export function registerWhy(program: Command, context: CliContext): void {
  const command = program
    .command('why')
    .description('say why a question, an approval or a turn waits, or how it ended')
    .argument('<id>', 'el_… a question, ap_… an approval, or the stream request of a turn')
    .option('--user <id>', 'whose turn it is')
    .option('--key <name>', 'the service key whose turn it is')
    .action(async (id: string, flags: WhyFlags) => {
      const { baseUrl, token } = connectionOf(command, context, 'service');
      const transport = createTransport({ root: resolveBaseUrl(baseUrl), token, retry: RETRY_DEFAULTS });
      const { language } = context.env;
      const call = {
        method: 'GET',
        ...placeOf(id, flags),
        headers: language === undefined ? {} : { 'accept-language': language },
        signal: context.signal,
      } as const;
      const { data } = Reply.safeParse(await transport.request(call));
      if (data === undefined)
        throw new ParleyClientError('internal', 'The reply does not come from Parley; check the address.');
      const { reasons } = data;
      if (isJson(command)) printJson(context, { id, reasons });
      else for (const reason of reasons) print(context, readableLine(reason));
      context.setExitCode(EXIT.accepted);
    });
}

function placeOf(id: string, { user, key }: WhyFlags) {
  const at = pathSegment(id);
  if (id.startsWith('el_')) return { path: `/v1/admin/elicitations/${at}/why` };
  if (id.startsWith('ap_')) return { path: `/v1/admin/approvals/${at}/why` };
  if ((user === undefined) === (key === undefined))
    throw usageError('Say whose turn it is, with --user or with --key.');
  return { path: `/v1/admin/turns/${at}/why`, query: { userId: user, key } };
}
