import { expect, it } from 'vitest';
import { faultsOfImages, whyNoImages } from '../../infra/images.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { isFullSize } from '../harness/proof-size.ts';

const why = isFullSize ? whyNoImages() : '`npm run soak` builds them, which takes minutes';

if (why !== undefined) suiteNotRun('the images', why);
else
  it('both images build, hold what they may, get ready and end when they are told', async () => {
    expect(await faultsOfImages()).toEqual([]);
  });
