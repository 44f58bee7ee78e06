import { ParleyError } from '@parley/core/domain/errors';
import { createLog, type Log } from '@parley/shared/observe/log';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';

function logInMemory(level: 'info' | 'warn' = 'info'): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog(
    { service: 'parley-test', level, pod: 'pod-1' },
    { write: (line) => lines.push(line) },
  );
  return { log, lines };
}

/** The one line that was written, read back. */
function only(lines: readonly string[]): Record<string, unknown> {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('createLog', () => {
  it('writes a line of JSON with service, time, level and message', () => {
    const { log, lines } = logInMemory();
    log.info({ elicitationId: 'el_1', durationMs: 12 }, 'elicitation answered');
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(only(lines)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'parley-test',
      pod: 'pod-1',
      elicitationId: 'el_1',
      durationMs: 12,
      msg: 'elicitation answered',
    });
  });

  it('writes nothing below its level', () => {
    const { log, lines } = logInMemory('warn');
    log.info('not now');
    log.warn('now');
    expect(only(lines)).toMatchObject({ level: 'warn', msg: 'now' });
  });

  it('never writes a value under a secret name, however deep', () => {
    const secret = fc.constantFrom('content', 'message', 'token', 'authorization', 'url', 'requestedSchema');
    const path = fc.array(fc.constantFrom('row', 'list', 'a', '0'), { maxLength: 6 });
    fc.assert(
      fc.property(secret, path, fc.boolean(), (name, names, inList) => {
        const marker = canary(name);
        const leaf: unknown = { [name]: inList ? [marker] : { of: marker } };
        const fields = names.reduce((inner, key) => (key === '0' ? [inner] : { [key]: inner }), leaf);
        const { log, lines } = logInMemory();
        log.info(Array.isArray(fields) ? { fields } : (fields as object), 'asked');
        expect(only(lines)).toMatchObject({ msg: 'asked' });
        expect(findCanary(marker, lines)).toEqual([]);
      }),
    );
  });

  it('censors the bindings of a child logger', () => {
    const marker = canary('bound');
    const { log, lines } = logInMemory();
    const err = Object.assign(new Error('before'), { command: marker });
    log.child({ token: marker, run: 'r1', err }).info('going on');
    expect(only(lines)).toMatchObject({ run: 'r1', token: '[redacted]', err: { message: 'before' } });
    expect(findCanary(marker, lines)).toEqual([]);
  });

  it('handles circular values', () => {
    const { log, lines } = logInMemory();
    const fields: Record<string, unknown> = { id: 'el_1' };
    fields.self = { fields, list: [fields] };
    log.info(fields, 'asked');
    expect(only(lines)).toMatchObject({ id: 'el_1', msg: 'asked' });
  });

  it('does not modify its arguments', () => {
    const { log } = logInMemory();
    const fields = { row: { message: 'still here' } };
    log.info(fields, 'asked');
    expect(fields).toEqual({ row: { message: 'still here' } });
  });
});

describe('errors in the log', () => {
  it('keep type, code, message, stack and cause, and no other property', () => {
    const marker = canary('carried');
    const command = Object.assign(new Error('READONLY You cannot write'), {
      command: { name: 'fcall', args: [marker] },
    });
    const error = new ParleyError('already_settled', 'It was settled.', {
      elicitation: { content: { pin: marker } } as never,
      cause: command,
    });
    const { log, lines } = logInMemory();
    log.error({ err: error, settled: { by: error } }, 'request failed');
    expect(findCanary(marker, lines)).toEqual([]);
    expect(only(lines).err).toMatchObject({
      type: 'ParleyError',
      code: 'already_settled',
      message: 'It was settled.',
      stack: expect.stringContaining('log.test.ts'),
      cause: { type: 'Error', message: 'READONLY You cannot write' },
    });
  });

  const marker = canary('quoted');
  const libraryErrors = {
    'the arguments of a command': new Error(
      `ERR unknown command 'SPUBLISH', with args beginning with: 'parley:{a}:stream' '{"pin":"${marker}"`,
    ),
    'a bit of JSON': caught(() => JSON.parse(`${marker}`)),
    'a URL': new TypeError(`Failed to parse URL from https://pages.example/connect?state=${marker}`),
    'a Redis password': new Error(`connect ECONNREFUSED redis://user:${marker}@redis:6379`),
    'a bearer token': new Error(`401 for Authorization: Bearer ${marker}`),
    'a JSON Web Token': new Error(`invalid: eyJhbGciOiJIUzI1NiJ9.${marker}.sig`),
  };

  it.each(Object.entries(libraryErrors))('do not quote %s', (_what, error) => {
    expect(String(error).slice(0, 400)).toContain('canary');
    const { log, lines } = logInMemory();
    log.error({ err: error, next: 'field' }, 'failed');
    log.error(error);
    log.error(`failed: ${error.message}`);
    // Even a part of it: JSON.parse quotes the first characters only.
    expect(findCanary('canary', lines)).toEqual([]);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 'error' });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ next: 'field', msg: 'failed' });
  });
});

function caught(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('It did not throw an error.');
}
