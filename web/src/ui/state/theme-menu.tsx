import { Monitor, Moon, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../forms/button.tsx';
import { Menu, MenuChoice } from '../layout/menu.tsx';
import { useTheme, type Theme } from './theme.ts';

const THEMES: readonly { value: Theme; label: string; icon: ReactNode }[] = [
  { value: 'system', label: 'System', icon: <Monitor /> },
  { value: 'light', label: 'Light', icon: <Sun /> },
  { value: 'dark', label: 'Dark', icon: <Moon /> },
];

/** Menu button for the theme. */
export function ThemeMenu() {
  const [theme, setTheme] = useTheme();
  const { icon } = THEMES.find(({ value }) => value === theme) ?? { icon: <Monitor /> };
  return (
    <Menu align="start" trigger={<IconButton label="Theme">{icon}</IconButton>}>
      <MenuChoice label="Theme" value={theme} options={THEMES} onChange={setTheme} />
    </Menu>
  );
}
