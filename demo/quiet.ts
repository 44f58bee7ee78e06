/**
 * Keeps a library's warning about Node's version out of the demo's output: the stand-in for a sign-in works with every version
 * that Parley supports. Import this file before anything that imports the library.
 */
const warn = console.warn;
console.warn = (...texts: unknown[]) => {
  if (!String(texts[0]).includes('oidc-provider WARNING: Unsupported runtime')) warn(...texts);
};

export {};
