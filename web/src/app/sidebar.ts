/** Whether the navigation is collapsed to its icons; stored in the browser. On phones it is at the bottom, and is not. */
import { useIsNarrow } from '../ui/layout/narrow.ts';
import { stored } from '../ui/state/stored.ts';

const sidebar = stored<'open' | 'collapsed'>('sidebar', ['open', 'collapsed']);

export function turnSidebar(): void {
  sidebar.set(sidebar.read() === 'open' ? 'collapsed' : 'open');
}

export function useIsCollapsed(): boolean {
  const isCollapsed = sidebar.use() === 'collapsed';
  return !useIsNarrow() && isCollapsed;
}
