/** The time after which the URL of a saved file is revoked, in ms. Browsers read the file only after the click. */
const KEPT_MS = 60_000;

/** Lets the operator save a file. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
