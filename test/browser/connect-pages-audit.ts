/**
 * Lists the faults in a page's structure and appearance, one sentence each: structure, labels, target sizes,
 * contrast of text and edges, overflow at the page's width. Empty when there is none. Runs in the page, so it cannot call
 * anything outside itself.
 */
export function auditPage(): string[] {
  return [...structure(), ...targets(), ...contrasts()];

  function structure(): string[] {
    const faults: string[] = [];
    for (const selector of ['h1', 'main', 'title']) {
      const found = document.querySelectorAll(selector).length;
      if (found !== 1) faults.push(`${found} of ${selector}`);
    }
    const { documentElement: root } = document;
    if (root.scrollWidth > root.clientWidth) faults.push(`scrolls sideways: ${root.scrollWidth} px wide`);
    if (getComputedStyle(root).colorScheme !== 'light dark') faults.push('has no style');
    for (const input of document.querySelectorAll<HTMLInputElement>(
      'input:not([type=hidden]), select, textarea',
    )) {
      if (!input.labels?.[0]?.textContent?.trim()) faults.push(`${input.name} has no label`);
      const described = input.getAttribute('aria-describedby')?.split(' ') ?? [];
      const missing = described.filter((id) => !document.getElementById(id)?.textContent?.trim());
      faults.push(...missing.map((id) => `${input.name} lacks its ${id}`));
    }
    return faults;
  }

  function targets(): string[] {
    return [
      ...document.querySelectorAll<HTMLElement>('a, button, input:not([type=hidden]), select, textarea'),
    ].flatMap((target) => {
      const { width, height } = target.getBoundingClientRect();
      const mute = ['A', 'BUTTON'].includes(target.tagName) && target.innerText.trim() === '';
      return [
        ...(width < 24 || height < 24 ? [`${target.outerHTML} is ${width} × ${height} px`] : []),
        ...(mute ? [`${target.outerHTML} says nothing`] : []),
      ];
    });
  }

  // WCAG 2.2, 1.4.3 and 1.4.11.
  function contrasts(): string[] {
    const partsOf = (colour: string) => (colour.match(/[\d.]+/gu) ?? []).map(Number);
    const groundOf = (element: Element | null): number[] => {
      if (element === null) return [255, 255, 255];
      const [red = 0, green = 0, blue = 0, alpha = 1] = partsOf(getComputedStyle(element).backgroundColor);
      return alpha === 0 ? groundOf(element.parentElement) : [red, green, blue];
    };
    const luminance = (colour: readonly number[]) => {
      const [red = 0, green = 0, blue = 0] = colour.map((part) =>
        part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const between = (colour: string, ground: number[]) => {
      const levels = [partsOf(colour).slice(0, 3), ground].map(luminance);
      return (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05);
    };
    const faults: string[] = [];
    const texts = document.createTreeWalker(
      document.querySelector('main') ?? document.body,
      NodeFilter.SHOW_TEXT,
    );
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      const text = texts.currentNode.textContent?.trim() ?? '';
      if (element === null || text === '') continue;
      if (between(getComputedStyle(element).color, groundOf(element)) < 4.5)
        faults.push(`too faint: ${text}`);
    }
    for (const element of document.querySelectorAll('a, button, input:not([type=hidden])')) {
      const edge = between(getComputedStyle(element).borderTopColor, groundOf(element.parentElement));
      if (edge < 3) faults.push(`edge too faint: ${element.outerHTML}`);
    }
    return faults;
  }
}
