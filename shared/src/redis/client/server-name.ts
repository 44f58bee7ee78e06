import { isIP } from 'node:net';

/**
 * The host name that a TLS client names when it asks for a certificate (SNI). Node sends none by default. IP addresses are not
 * allowed as names.
 */
export function serverNameOf(host: string | undefined): { readonly servername?: string } {
  return host === undefined || isIP(host) !== 0 ? {} : { servername: host };
}
