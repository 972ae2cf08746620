/**
 * The sections in the order of the navigation. `key` is the second key of the shortcut; the first is `g`. `scope`: what a
 * session needs for it; null: nothing, although some parts of it may need one.
 */
import {
  CalendarClock,
  ChartNoAxesCombined,
  Inbox,
  KeyRound,
  ListChecks,
  MessagesSquare,
  Search,
  Settings,
} from 'lucide-react';
import { useMemo } from 'react';
import { useScopes } from '../data/query/session.ts';

export const PLACES = [
  { to: '/', name: 'Chat', key: 'c', scope: 'read', icon: MessagesSquare },
  { to: '/inbox', name: 'Inbox', key: 'i', scope: 'read', icon: Inbox },
  { to: '/jobs', name: 'Jobs', key: 'j', scope: 'read', icon: ListChecks },
  { to: '/schedules', name: 'Schedules', key: 'd', scope: 'read', icon: CalendarClock },
  { to: '/overview', name: 'Overview', key: 'o', scope: 'read', icon: ChartNoAxesCombined },
  { to: '/search', name: 'Search', key: '/', scope: 'read', icon: Search },
  { to: '/access', name: 'Access', key: 'a', scope: 'keys', icon: KeyRound },
  { to: '/settings', name: 'Settings', key: 's', scope: null, icon: Settings },
] as const;

export type Place = (typeof PLACES)[number];

/** Those that this session can use. */
export function usePlaces(): readonly Place[] {
  const scopes = useScopes();
  return useMemo(() => PLACES.filter(({ scope }) => scope === null || scopes.includes(scope)), [scopes]);
}

/** Whether an address belongs to the section `to`. */
export function isWithin(pathname: string, to: Place['to']): boolean {
  if (to === '/') return pathname === '/' || pathname.startsWith('/contexts/');
  if (to === '/jobs') return pathname.startsWith('/jobs') || pathname.startsWith('/workers/');
  return pathname.startsWith(to);
}
