/** The time after which the URL of a saved file is revoked, in ms: browsers begin to read it only after the click. */
const KEPT_MS = 60_000;

/** Gives the operator a file. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
