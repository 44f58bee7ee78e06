import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import express, { type Request } from 'express';
import { SignJWT } from 'jose';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_JWT_SECRET = '', PORT = '8000' } = process.env;
const { PARLEY_TENANT = 'default' } = process.env;
const secret = new TextEncoder().encode(PARLEY_JWT_SECRET);
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Who is signed in, by session. Your own sessions take the place of this map. */
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

// Your own sign-in takes the place of this one, which believes every name.
app.post('/sign-in', express.urlencoded(), (req, res) => {
  const session = randomUUID();
  sessions.set(session, String(req.body.user));
  res.cookie('session', session, { httpOnly: true, sameSite: 'lax' }).redirect('/');
});

// A token names the person of the session, and nothing that the page says can change whom.
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
