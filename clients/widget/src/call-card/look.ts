import { isRecord } from '@parley/core/domain/plain-record';
import type { HostContext } from './host.ts';

const NAME = /^--[a-z0-9-]{1,64}$/;

/** Applies the theme, language, sizes and colours of the host to the document. What the host does not give stays unchanged. */
export function applyContext(
  { theme, locale, styles, containerDimensions: size, safeAreaInsets: insets }: HostContext,
  root: HTMLElement = document.documentElement,
): void {
  if (theme === 'light' || theme === 'dark') root.style.colorScheme = theme;
  if (typeof locale === 'string') root.lang = locale;
  const variables = isRecord(styles) && isRecord(styles.variables) ? styles.variables : {};
  for (const [name, value] of Object.entries(variables))
    if (NAME.test(name) && typeof value === 'string') root.style.setProperty(name, value);
  if (isRecord(size)) {
    root.style.height = 'height' in size ? '100vh' : '';
    root.style.maxHeight = typeof size.maxHeight === 'number' ? `${size.maxHeight}px` : '';
  }
  if (isRecord(insets)) {
    const sides = ['top', 'right', 'bottom', 'left'].map((side) => insets[side]);
    root.style.padding = sides.map((side) => (typeof side === 'number' ? `${side}px` : '0')).join(' ');
  }
}
