import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundleSdk } from './sdk-page.ts';

it('the bundle of the SDK contains the client and the core only, and is small', async () => {
  const { text, inputs } = await bundleSdk();
  const allowed =
    /^(clients\/(?:core|sdk)\/src\/|shared\/src\/domain\/(?:elicitations\/status|plain-record)\.ts$)/;
  expect(inputs.filter((path) => !allowed.test(path))).toEqual([]);
  expect(gzipSync(text).length).toBeLessThan(8_192);
});
