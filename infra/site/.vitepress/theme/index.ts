import type { Theme } from 'vitepress';
import defaultTheme from 'vitepress/theme';
import { TryIt } from './try-it.ts';
import './style.css';

export default {
  extends: defaultTheme,
  enhanceApp({ app }) {
    app.component('TryIt', TryIt);
  },
} satisfies Theme;
