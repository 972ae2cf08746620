/** Routes of the console. The code of a page is loaded on the first visit. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Spinner } from '../ui/state/spinner.tsx';
import css from './app.module.css';
import { Fault } from './error-boundary.tsx';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';
import { commonWords } from '../words.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const getParentRoute = () => root;

const chat = lazyRouteComponent(() => import('../pages/chat/page.tsx'), 'ChatPage');

const routes = [
  createRoute({ getParentRoute, path: '/', component: chat }),
  createRoute({
    getParentRoute,
    path: '/contexts/$contextId',
    component: chat,
    validateSearch: texts('message'),
  }),
  createRoute({
    getParentRoute,
    path: '/jobs',
    component: lazyRouteComponent(() => import('../pages/jobs/page.tsx'), 'JobsPage'),
    validateSearch: texts(
      'status',
      'kind',
      'role',
      'user',
      'metadata',
      'context_id',
      'worker_id',
      'parent_job_id',
      'q',
      'sort',
      'range',
      'from',
      'to',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/jobs/$jobId',
    component: lazyRouteComponent(() => import('../pages/job/page.tsx'), 'JobPage'),
    validateSearch: (search) => ({ ...texts('tab', 'compare')(search), ...numberOf(search, 'call') }),
  }),
  createRoute({
    getParentRoute,
    path: '/workers/$workerId/tree',
    component: lazyRouteComponent(() => import('../pages/tree/page.tsx'), 'TreePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/inbox',
    component: lazyRouteComponent(() => import('../pages/inbox/page.tsx'), 'InboxPage'),
    validateSearch: texts('kind'),
  }),
  createRoute({
    getParentRoute,
    path: '/schedules',
    component: lazyRouteComponent(() => import('../pages/schedules/page.tsx'), 'SchedulesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/overview',
    component: lazyRouteComponent(() => import('../pages/overview/page.tsx'), 'OverviewPage'),
    validateSearch: texts('span'),
  }),
  createRoute({
    getParentRoute,
    path: '/operations',
    component: lazyRouteComponent(() => import('../pages/operations/page.tsx'), 'OperationsPage'),
    validateSearch: texts('tab'),
  }),
  createRoute({
    getParentRoute,
    path: '/search',
    component: lazyRouteComponent(() => import('../pages/search/page.tsx'), 'SearchPage'),
    validateSearch: texts('q', 'message_role', 'context_id', 'worker_id', 'role', 'from', 'to'),
  }),
  createRoute({
    getParentRoute,
    path: '/access',
    component: lazyRouteComponent(() => import('../pages/access/page.tsx'), 'AccessPage'),
    validateSearch: texts('tab', 'actor', 'action', 'target', 'from', 'to'),
  }),
  createRoute({
    getParentRoute,
    path: '/tenants',
    component: lazyRouteComponent(() => import('../pages/tenants/page.tsx'), 'TenantsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('../pages/settings/page.tsx'), 'SettingsPage'),
    validateSearch: texts('tab', 'tool', 'hours'),
  }),
] as const;

/** Validates search parameters: keeps those with one of these names, as text. */
function texts<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [N in Name]?: string } => {
    const found: { [N in Name]?: string } = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') found[name] = value;
      // The router parses `?q=42` as a number.
      else if (typeof value === 'number' || typeof value === 'boolean') found[name] = String(value);
    }
    return found;
  };
}

/** A whole number from 1, under this name; nothing, if it is none. */
function numberOf<Name extends string>(search: Record<string, unknown>, name: Name): { [N in Name]?: number } {
  const value = search[name];
  const found: { [N in Name]?: number } = {};
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) found[name] = value;
  return found;
}

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: Fault,
  defaultPendingComponent: () => (
    <div className={css.middle}>
      <Spinner label={commonWords.loading} />
    </div>
  ),
});

/** Loads the code of the page in the address at once: it need not wait until it is known who has signed in. */
export function preloadPage(): void {
  const [matched] = router.getMatchedRoutes(window.location.pathname);
  for (const route of matched)
    // If it fails, it fails again when the page is shown, which then says so.
    void Promise.resolve(router.loadRouteChunk(route)).catch(() => undefined);
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
