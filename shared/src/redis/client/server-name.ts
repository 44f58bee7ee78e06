import { isIP } from 'node:net';

/** The name by which a TLS client asks a server for its certificate (SNI). Node sends none by itself; addresses are no names. */
export function serverNameOf(host: string | undefined): { readonly servername?: string } {
  return host === undefined || isIP(host) !== 0 ? {} : { servername: host };
}
