/** Whether an image name says which version it means: a digest, or a tag with a digit that is not a moving word. */
export function pinned(image: string): boolean {
  if (image.includes('@sha256:')) return true;
  const tag = image.split('/').at(-1)?.split(':')[1] ?? '';
  return /\d/.test(tag) && !/^(latest|stable|edge|nightly|main|master)/.test(tag);
}
