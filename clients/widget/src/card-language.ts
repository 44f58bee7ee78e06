/** The language tag that holds for an element: its own `lang` or the nearest above, shadow roots crossed. */
export function languageOf(element: Element): string | undefined {
  let at: Element | null = element;
  while (at !== null) {
    const marked: Element | null = at.closest('[lang]');
    if (marked !== null) return marked.getAttribute('lang') ?? undefined;
    const root: Node = at.getRootNode();
    at = root instanceof ShadowRoot ? root.host : null;
  }
  return undefined;
}
