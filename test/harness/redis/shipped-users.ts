import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The password of the user `parley`, with which pods and workers connect. */
export const PARLEY_PASSWORD = 'a-password-of-the-user-parley';

/** Without a password: reads everything. */
export const READER = 'reader';

/**
 * Writes `infra/redis/users.acl` with the user `parley` turned on, as `infra/redis/start.sh` does it, and with the user `READER`
 * for tests. Returns the arguments of redis-server that use it.
 */
export async function shippedUsers(directory: string): Promise<string[]> {
  const file = fileURLToPath(new URL('../../../infra/redis/users.acl', import.meta.url));
  const shipped = await readFile(file, 'utf8');
  const path = join(directory, 'users.acl');
  await writeFile(
    path,
    `${shipped.replace('user parley off resetpass ', `user parley on resetpass >${PARLEY_PASSWORD} `).trimEnd()}
user ${READER} on nopass ~* +@read +@connection
`,
  );
  return ['--aclfile', path];
}
