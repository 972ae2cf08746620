import { Monitor, Moon, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../forms/button.tsx';
import { Menu, MenuChoice } from '../layout/menu.tsx';
import { useTheme, type Theme } from './theme.ts';
import { uiWords } from '../../words.ts';

const THEMES: readonly { value: Theme; label: string; icon: ReactNode }[] = [
  { value: 'system', label: uiWords.theme.system, icon: <Monitor /> },
  { value: 'light', label: uiWords.theme.light, icon: <Sun /> },
  { value: 'dark', label: uiWords.theme.dark, icon: <Moon /> },
];

/** Menu button for the theme. */
export function ThemeMenu() {
  const [theme, setTheme] = useTheme();
  const { icon } = THEMES.find(({ value }) => value === theme) ?? { icon: <Monitor /> };
  return (
    <Menu align="start" trigger={<IconButton label={uiWords.theme.title}>{icon}</IconButton>}>
      <MenuChoice label={uiWords.theme.title} value={theme} options={THEMES} onChange={setTheme} />
    </Menu>
  );
}
