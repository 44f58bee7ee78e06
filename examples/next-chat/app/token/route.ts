import { SignJWT } from 'jose';

/** A short-lived token for the person who is signed in to this application. */
export async function GET(): Promise<Response> {
  const { PARLEY_JWT_SECRET = '', PARLEY_TENANT = 'default' } = process.env;
  const token = await new SignJWT({ tenant: PARLEY_TENANT })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(await signedInUser())
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(PARLEY_JWT_SECRET));
  return new Response(token, { headers: { 'cache-control': 'no-store' } });
}

/**
 * Your own session identifies the person, for example `(await auth()).user.id`. The request itself must not name the person.
 */
async function signedInUser(): Promise<string> {
  return 'me';
}
