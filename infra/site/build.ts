import { buildSite, installGenerator, serveSite } from './site.ts';

/**
 * `npm run site` builds the site into dist/site. `--serve` also serves it on this machine. Other options, such as `--base
 * /parley/`, are passed to VitePress.
 */
const options = process.argv.slice(2);
await installGenerator((text) => process.stdout.write(`${text}\n`));
await buildSite(options.filter((option) => option !== '--serve'));
if (options.includes('--serve')) await serveSite();
