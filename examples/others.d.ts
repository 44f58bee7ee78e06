/**
 * Packages of examples that this repository does not install: it knows nothing of their types, and checks what the examples
 * do with Parley. `npm run soak` installs them, and checks each example with all of its types.
 */
declare module 'next/dynamic';
