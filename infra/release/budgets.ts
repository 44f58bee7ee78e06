/** The size limits of the packages. If one is exceeded, `npm run packages` and the test of the packages fail. */

/** The maximum size of an entry point on a page: gzipped bytes, including everything that it loads at once. */
export const ENTRY_GZIP_MAX: Readonly<Record<string, number>> = {
  '@parley/core': 5_200,
  '@parley/sdk': 6_200,
  '@parley/sdk/chat': 8_700,
  '@parley/sdk/workflow': 4_800,
  '@parley/sdk/ai-provider': 12_400,
  '@parley/sdk/elicit': 60_000,
  '@parley/sdk/forms': 1_800,
  '@parley/sdk/openai': 700,
  '@parley/widget': 20_400,
  '@parley/widget/approvals': 24_400,
  '@parley/widget/server': 8_600,
  '@parley/widget/inbox': 55_000,
  '@parley/widget/app': 160_000,
  '@parley/widget/ai-sdk': 45_000,
  '@parley/widget/dom-events': 45_000,
  '@parley/widget/react': 56_000,
};

/** The maximum size of a packed tarball, in megabytes. */
export const TARBALL_MB_MAX: Readonly<Record<string, number>> = {
  '@parley/core': 0.15,
  '@parley/sdk': 0.15,
  '@parley/widget': 0.4,
  '@parley/server': 5,
  '@parley/cli': 0.25,
};

/** The maximum size of a folder in which only that package and its dependencies are installed, in megabytes. */
export const INSTALLED_MB_MAX: Readonly<Record<string, number>> = {
  '@parley/sdk': 20,
  '@parley/widget': 25,
  '@parley/cli': 120,
};
