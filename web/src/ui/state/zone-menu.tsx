import { Clock, Earth } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../forms/button.tsx';
import { Menu, MenuChoice } from '../layout/menu.tsx';
import { useZone, type Zone } from './zone.ts';

export const ZONES: readonly { value: Zone; label: string; icon: ReactNode }[] = [
  { value: 'local', label: 'Local time', icon: <Clock /> },
  { value: 'utc', label: 'UTC', icon: <Earth /> },
];

/** Menu button for the time zone of shown times. */
export function ZoneMenu() {
  const [zone, setZone] = useZone();
  const { icon } = ZONES.find(({ value }) => value === zone) ?? { icon: <Clock /> };
  return (
    <Menu align="start" trigger={<IconButton label="Time zone">{icon}</IconButton>}>
      <MenuChoice label="Time zone" value={zone} options={ZONES} onChange={setZone} />
    </Menu>
  );
}
