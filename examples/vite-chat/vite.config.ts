import react from '@vitejs/plugin-react';
import { SignJWT } from 'jose';
import { type Connect, defineConfig, loadEnv, type Plugin } from 'vite';

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, process.cwd(), 'PARLEY_');
  const { PARLEY_URL = 'http://localhost:3000' } = env;
  return {
    plugins: [react(), tokens(env)],
    server: { proxy: { '/run': PARLEY_URL, '/v1': PARLEY_URL } },
  };
});

/** Serves tokens at `/token`, as your own backend does in production. */
function tokens({ PARLEY_JWT_SECRET = '', PARLEY_TENANT = 'default' }: Record<string, string>): Plugin {
  const secret = new TextEncoder().encode(PARLEY_JWT_SECRET);
  const serve: Connect.NextHandleFunction = async (_req, res) => {
    // Your backend must take the person from its session, never from the request.
    const token = await new SignJWT({ tenant: PARLEY_TENANT })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('me')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(secret);
    res.setHeader('cache-control', 'no-store').end(token);
  };
  return {
    name: 'tokens',
    configureServer: ({ middlewares }) => void middlewares.use('/token', serve),
    configurePreviewServer: ({ middlewares }) => void middlewares.use('/token', serve),
  };
}
