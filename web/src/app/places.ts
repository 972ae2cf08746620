/** The sections in the order of the navigation. `key` is the second key of the shortcut; the first is `g`. */
import { CalendarClock, ChartNoAxesCombined, Inbox, ListChecks, MessagesSquare, Search, Settings } from 'lucide-react';

export const PLACES = [
  { to: '/', name: 'Chat', key: 'c', icon: MessagesSquare },
  { to: '/inbox', name: 'Inbox', key: 'i', icon: Inbox },
  { to: '/jobs', name: 'Jobs', key: 'j', icon: ListChecks },
  { to: '/schedules', name: 'Schedules', key: 'd', icon: CalendarClock },
  { to: '/overview', name: 'Overview', key: 'o', icon: ChartNoAxesCombined },
  { to: '/search', name: 'Search', key: '/', icon: Search },
  { to: '/settings', name: 'Settings', key: 's', icon: Settings },
] as const;

/** Whether an address belongs to the section `to`. */
export function isWithin(pathname: string, to: (typeof PLACES)[number]['to']): boolean {
  if (to === '/') return pathname === '/' || pathname.startsWith('/contexts/');
  if (to === '/jobs') return pathname.startsWith('/jobs') || pathname.startsWith('/workers/');
  return pathname.startsWith(to);
}
