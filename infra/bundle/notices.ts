import { readFile } from 'node:fs/promises';
import { writeThirdParty } from './third-party.ts';

/** `notices.ts <inputs.json> <file>` writes the licences of the packages to which the listed files belong. */
const [list = '', file = ''] = process.argv.slice(2);
await writeThirdParty(JSON.parse(await readFile(list, 'utf8')) as string[], file);
