import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import express, { type Request } from 'express';
import { SignJWT } from 'jose';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_JWT_SECRET = '', PORT = '8000' } = process.env;
const { PARLEY_TENANT = 'default' } = process.env;
const secret = new TextEncoder().encode(PARLEY_JWT_SECRET);
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The signed-in people, by session. Replace this map by your own sessions. */
const sessions = new Map<string, string>();

function signedInUser({ headers }: Request): string | undefined {
  const session = /(?:^|; )session=([\w-]+)/.exec(headers.cookie ?? '')?.[1];
  return session === undefined ? undefined : sessions.get(session);
}

const app = express();
app.use('/widget', express.static(fileURLToPath(new URL('.', import.meta.resolve('@parley/widget')))));

app.get('/', (req, res) => {
  res.sendFile(signedInUser(req) === undefined ? file('sign-in.html') : file('page.html'));
});

// Replace this by your own sign-in. This one accepts every name without proof.
app.post('/sign-in', express.urlencoded(), (req, res) => {
  const session = randomUUID();
  sessions.set(session, String(req.body.user));
  res.cookie('session', session, { httpOnly: true, sameSite: 'lax' }).redirect('/');
});

// The token names the session's person. Nothing that the page sends can change that.
app.get('/token', async (req, res) => {
  const user = signedInUser(req);
  res.set('cache-control', 'no-store');
  if (user === undefined) {
    res.status(401).end();
    return;
  }
  const token = await new SignJWT({ tenant: PARLEY_TENANT })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(secret);
  res.json({ token, parleyUrl: PARLEY_URL });
});

app.listen(Number(PORT), '127.0.0.1', () => console.log(`The page is at http://localhost:${PORT}`));
