import { userToken } from '../test/harness/tokens.ts';

/** Prints a user's token for experiments: `npm run --silent token -- <user> [tenant]`, signed with PARLEY_JWT_SECRET. */
const [userId, tenant = 'default'] = process.argv.slice(2);
const secret = process.env.PARLEY_JWT_SECRET ?? '';
if (userId === undefined || secret === '') {
  process.stderr.write(
    'Usage: PARLEY_JWT_SECRET=<the secret of the pods> npm run --silent token -- <user> [tenant]\n',
  );
  process.exit(1);
}
process.stdout.write(`${await userToken({ secret, userId, tenant })}\n`);
