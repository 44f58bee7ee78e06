import { readableLine } from '@parley/core/domain/readable';
import type { Command } from 'commander';
import { connectionOf } from '../connection.ts';
import { type CliContext, isJson, print, printJson, styled } from '../context.ts';
import { checkInstallation } from '../doctor/check-installation.ts';
import { checkRedis } from '../doctor/check-redis.ts';
import { checkServer } from '../doctor/check-server.ts';
import { checkSettings } from '../doctor/check-settings.ts';
import { checkStream } from '../doctor/check-stream.ts';
import { type Finding, fault, fine } from '../doctor/finding.ts';
import { EXIT } from '../exit-code.ts';

interface DoctorFlags {
  readonly origin?: string;
  readonly quick?: boolean;
}

const NODE_MIN = [20, 19] as const;
/** After one of these faults, nothing else about the server can be checked. */
const NO_SERVER: ReadonlySet<string> = new Set(['server_unreachable', 'redirected', 'not_parley']);

/** `parley doctor`: checks the installation and says what is wrong. */
export function registerDoctor(program: Command, context: CliContext): void {
  const command = program
    .command('doctor')
    .description(
      'check the address, the way to it, the pods, the token, Redis and the settings here, and say what to do',
    )
    .option('--origin <url>', 'the origin of a page that is to call')
    .option('--quick', 'do not wait for the heartbeat of a stream, which takes up to 20 seconds')
    .action(async (flags: DoctorFlags) => {
      const report = (findings: readonly Finding[]) => {
        for (const one of findings)
          if (isJson(command)) printJson(context, one);
          else print(context, lineOf(one, context));
        return findings.some(({ verdict }) => verdict === 'wrong');
      };
      const wrong = [
        report([checkNode()]),
        report(await checkAddress(command, context, flags)),
        report(await checkSettings(context.env.all)),
        report(await checkRedis(context.env.all)),
      ];
      context.setExitCode(wrong.includes(true) ? EXIT.failed : EXIT.accepted);
    });
}

function lineOf({ check, verdict, text, code, remedy }: Finding, context: CliContext): string {
  const colour = { ok: 'green', wrong: 'red', unknown: 'yellow' } as const;
  const said = [text, remedy, code && `(${code})`].filter((part) => part !== undefined).join(' ');
  return `${styled(context, colour[verdict], verdict.padEnd(7))} ${check}: ${readableLine(said)}`;
}

function checkNode(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isRight = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return isRight ? fine('node', node) : fault('node', 'node_too_old', `${node} is too old.`);
}

async function checkAddress(
  command: Command,
  context: CliContext,
  { origin, quick }: DoctorFlags,
): Promise<readonly Finding[]> {
  let connection: ReturnType<typeof connectionOf>;
  try {
    connection = connectionOf(command, context, 'service');
  } catch (error) {
    return [fault('token', 'token_missing', error instanceof Error ? error.message : String(error))];
  }
  const token = typeof connection.token === 'string' ? connection.token : await connection.token();
  const target = { baseUrl: connection.baseUrl.replace(/\/+$/, ''), token, origin };
  const found = await checkServer(target);
  if (found.some(({ code = '' }) => NO_SERVER.has(code))) return found;
  const further = await Promise.all([
    checkInstallation(target),
    quick === true ? [] : checkStream(target).then((one) => [one]),
  ]);
  return [...found, ...further.flat()];
}
