import { Clock, Earth } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../forms/button.tsx';
import { Menu, MenuChoice } from '../layout/menu.tsx';
import { useZone, type Zone } from './zone.ts';
import { uiWords } from '../../words.ts';

export const ZONES: readonly { value: Zone; label: string; icon: ReactNode }[] = [
  { value: 'local', label: uiWords.zone.local, icon: <Clock /> },
  { value: 'utc', label: uiWords.zone.utc, icon: <Earth /> },
];

/** Menu button for the time zone of shown times. */
export function ZoneMenu() {
  const [zone, setZone] = useZone();
  const { icon } = ZONES.find(({ value }) => value === zone) ?? { icon: <Clock /> };
  return (
    <Menu align="start" trigger={<IconButton label={uiWords.zone.title}>{icon}</IconButton>}>
      <MenuChoice label={uiWords.zone.title} value={zone} options={ZONES} onChange={setZone} />
    </Menu>
  );
}
