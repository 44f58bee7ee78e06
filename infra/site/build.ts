import { buildSite, installGenerator, serveSite } from './site.ts';

/**
 * `npm run site` builds the site into dist/site. `--serve` shows the result on this machine; other options, such as
 * `--base /parley/`, are those of VitePress.
 */
const options = process.argv.slice(2);
await installGenerator((text) => process.stdout.write(`${text}\n`));
await buildSite(options.filter((option) => option !== '--serve'));
if (options.includes('--serve')) await serveSite();
