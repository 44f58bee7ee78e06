import { z } from 'zod';

// Schemas for single variables. Each parses a text to a typed value and takes the variable's description as `about`.

export const text = (about: string) => z.string().optional().describe(about);
export const list = (about: string) =>
  z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .describe(about);
export const integer = (
  [fallback, min, max]: readonly [fallback: number, min: number, max: number],
  about: string,
) =>
  z
    .string()
    .default(String(fallback))
    .transform((value, issues) => {
      const number = Number(value);
      if (/^[0-9]+$/.test(value) && number >= min && number <= max) return number;
      issues.addIssue({ code: 'custom', message: `must be a whole number from ${min} to ${max}` });
      return z.NEVER;
    })
    .describe(`${about} Default ${fallback}.`);
export const flag = (about: string) =>
  z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe(about);
export const nodes = (about: string) =>
  list(about).transform((parts, issues) =>
    parts.map((part) => {
      // An IPv6 address is in brackets, which separate its colons from the port; the brackets are not part of the address.
      const [, address, name, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(part) ?? [];
      const host = address ?? name;
      if (host !== undefined) return { host, port: Number(port) };
      issues.addIssue({
        code: 'custom',
        message: 'must be host:port, comma separated, with IPv6 addresses in brackets: [::1]:6379',
      });
      return z.NEVER;
    }),
  );
