/** How long a browser may take to begin to read a file, in ms. */
const KEPT_MS = 60_000;

/** Gives the operator a file. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
