/**
 * The sections in the order of the navigation. `key` is the second key of the shortcut; the first is `g`. It is not `a`,
 * which approves if it comes too late. `scopes`: a session needs one of them; none: nothing, although some parts of it may
 * need one.
 */
import {
  Building2,
  CalendarClock,
  ChartNoAxesCombined,
  Inbox,
  KeyRound,
  ListChecks,
  MessagesSquare,
  Search,
  Server,
  Settings,
} from 'lucide-react';
import { useMemo } from 'react';
import { hasOneOf, useScopes, type Scope } from '../data/query/session.ts';
import { placeWords } from '../words.ts';

export const PLACES = [
  { to: '/', name: placeWords.chat, key: 'c', scopes: ['read'], icon: MessagesSquare },
  { to: '/inbox', name: placeWords.inbox, key: 'i', scopes: ['read'], icon: Inbox },
  { to: '/jobs', name: placeWords.jobs, key: 'j', scopes: ['read'], icon: ListChecks },
  { to: '/schedules', name: placeWords.schedules, key: 'd', scopes: ['read'], icon: CalendarClock },
  { to: '/overview', name: placeWords.overview, key: 'o', scopes: ['read'], icon: ChartNoAxesCombined },
  { to: '/search', name: placeWords.search, key: '/', scopes: ['read'], icon: Search },
  { to: '/tenants', name: placeWords.tenants, key: 't', scopes: ['operator'], icon: Building2 },
  { to: '/operations', name: placeWords.operations, key: 'p', scopes: ['read', 'operator'], icon: Server },
  { to: '/access', name: placeWords.access, key: 'k', scopes: ['keys', 'operator'], icon: KeyRound },
  { to: '/settings', name: placeWords.settings, key: 's', scopes: [], icon: Settings },
] as const satisfies readonly { scopes: readonly Scope[]; [part: string]: unknown }[];

export type Place = (typeof PLACES)[number];

/** Those that this session can use. */
export function usePlaces(): readonly Place[] {
  const scopes = useScopes();
  return useMemo(() => PLACES.filter((place) => hasOneOf(scopes, place.scopes)), [scopes]);
}

/** Whether an address belongs to the section `to`. */
export function isWithin(pathname: string, to: Place['to']): boolean {
  if (to === '/') return pathname === '/' || pathname.startsWith('/contexts/');
  if (to === '/jobs') return pathname.startsWith('/jobs') || pathname.startsWith('/workers/');
  return pathname.startsWith(to);
}

/** The section of an address. */
export function placeOf(pathname: string): Place | undefined {
  return PLACES.find(({ to }) => isWithin(pathname, to));
}
