/** Layout of every page: the navigation (at the side, on phones at the bottom) and the connection banner. */
import { Navigate, Outlet, rootRouteId, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, type RefObject } from 'react';
import { MissingScope } from '../ui/state/missing-scope.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Skeleton } from '../ui/layout/skeleton.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { useKeptFocus } from './kept-focus.ts';
import { Navigation } from './navigation.tsx';
import { OpenPalette } from './palette/open-palette.tsx';
import { placeOf, usePlaces, type Place } from './places.ts';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useShortcuts } from './shortcuts.ts';
import { appWords } from '../words.ts';
import css from './shell.module.css';

export function Shell() {
  const main = useRef<HTMLElement>(null);
  useShortcuts();
  useFocusOnNewPage(main);
  useKeptFocus();
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#main">
        {appWords.skipToContent}
      </a>
      <Navigation />
      <div className={css.body}>
        <ConnectionBanner />
        <main id="main" ref={main} tabIndex={-1} className={css.main}>
          <ErrorBoundary>
            <Suspense fallback={<Skeleton />}>
              <Content />
            </Suspense>
          </ErrorBoundary>
        </main>
      </div>
      <ShortcutHelp />
      <OpenPalette />
    </div>
  );
}

/** The page, or what it needs that the key of this session does not allow. Without the chat, `/` leads to another page. */
function Content() {
  const usable = usePlaces();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const place = placeOf(pathname);
  // Until the next page is loaded, the router renders the one before.
  const rendered = placeOf(useRouterState({ select: ({ matches }) => pathOf(matches.at(-1)) }));
  const isUsable = (one: Place | undefined): boolean => one === undefined || usable.includes(one);
  if (place === undefined || isUsable(place)) return isUsable(rendered) ? <Outlet /> : <Skeleton />;
  const [first] = usable;
  if (pathname === '/' && first !== undefined) return <Navigate to={first.to} replace />;
  const [scope] = place.scopes;
  return (
    <Page title={place.name}>
      <MissingScope scope={scope ?? 'read'} />
    </Page>
  );
}

/** Of the root alone there is none: the address is unknown. */
function pathOf(match: { routeId: string; pathname: string } | undefined): string {
  return match === undefined || match.routeId === rootRouteId ? '' : match.pathname;
}

/** Moves the focus to the start of the main content when the section changes. */
function useFocusOnNewPage(main: RefObject<HTMLElement | null>): void {
  const section = useRouterState({ select: ({ location }) => location.pathname.split('/')[1] });
  const before = useRef(section);
  useEffect(() => {
    if (before.current === section) return;
    before.current = section;
    if (main.current?.contains(document.activeElement) !== true) main.current?.focus({ preventScroll: true });
  }, [section, main]);
}
