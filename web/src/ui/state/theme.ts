/** The theme: light, dark or the setting of the system; stored in the browser. */
import { stored } from './stored.ts';

export type Theme = 'system' | 'light' | 'dark';

const theme = stored<Theme>('theme', ['system', 'light', 'dark'], applyTheme);

export const readTheme = theme.read;

export function applyTheme(to: Theme): void {
  if (to === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = to;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  return [theme.use(), theme.set];
}
