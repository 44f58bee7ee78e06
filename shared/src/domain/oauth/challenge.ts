/** Rewrites a Bearer or DPoP challenge of `WWW-Authenticate` as a Bearer challenge; both schemes have the same parameters. */
export function bearerFirst(challenges: string): string {
  const [, parameters] = /(?:^|,)\s*(?:Bearer|DPoP)\s(.*)$/is.exec(challenges) ?? [];
  return parameters === undefined ? challenges : `Bearer ${parameters}`;
}

/** True where a challenge demands a token that is bound to a key (RFC 9449). */
export function isDpop(challenges: string): boolean {
  return /(?:^|,)\s*DPoP\s/i.test(challenges);
}
