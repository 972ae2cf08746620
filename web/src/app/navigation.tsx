import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { Command, Keyboard, LogOut, PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import { useSignOut } from '../data/query/session.ts';
import { approvalsQuery } from '../data/query/system.ts';
import { IconButton } from '../ui/forms/button.tsx';
import { showHelp } from '../ui/forms/help.ts';
import { ThemeMenu } from '../ui/state/theme-menu.tsx';
import { ZoneMenu } from '../ui/state/zone-menu.tsx';
import { Tooltip } from '../ui/layout/tooltip.tsx';
import { showError } from '../ui/layout/toaster.tsx';
import { Logo } from './logo.tsx';
import { showPalette } from './palette/shown.ts';
import { isWithin, usePlaces } from './places.ts';
import { appWords, commonWords, paletteWords } from '../words.ts';
import { turnSidebar, useIsCollapsed } from './sidebar.ts';
import css from './shell.module.css';

export function Navigation() {
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const isCollapsed = useIsCollapsed();
  return (
    <nav className={css.side} aria-label={appWords.navigation} data-collapsed={isCollapsed}>
      <div className={css.brand}>
        <Logo />
        <span className={css.name}>{appWords.product}</span>
      </div>
      <div className={css.list}>
        <ul className={css.places}>
          {usePlaces().map(({ to, name, icon: Icon }) => {
            const here = isWithin(pathname, to);
            return (
              <li key={to}>
                <Tooltip text={name} side="right" off={!isCollapsed}>
                  <Link to={to} className={css.place} data-here={here} aria-current={here ? 'page' : undefined}>
                    <Icon aria-hidden="true" />
                    <span className={css.name}>{name}</span>
                    {to === '/inbox' && <InboxCount />}
                  </Link>
                </Tooltip>
              </li>
            );
          })}
        </ul>
      </div>
      <div className={css.foot}>
        <ThemeMenu />
        <ZoneMenu />
        <IconButton label={paletteWords.open} keys={appWords.shortcuts.keys.palette} onClick={showPalette}>
          <Command />
        </IconButton>
        <IconButton label={appWords.shortcuts.title} keys="?" onClick={showHelp}>
          <Keyboard />
        </IconButton>
        <SignOutButton />
        <IconButton
          label={isCollapsed ? appWords.sidebar.expand : appWords.sidebar.collapse}
          keys="b"
          onClick={turnSidebar}
        >
          {isCollapsed ? <PanelLeftOpen /> : <PanelLeftClose />}
        </IconButton>
      </div>
    </nav>
  );
}

/** Number of tool calls that wait for a person. */
function InboxCount() {
  const { data } = useQuery(approvalsQuery());
  const count = data?.data.length ?? 0;
  if (count === 0) return null;
  const shown = data?.next_cursor === null ? String(count) : `${count}+`;
  return (
    <span className={css.count} aria-label={appWords.waiting(shown)}>
      {shown}
    </span>
  );
}

function SignOutButton() {
  const leave = useSignOut();
  if (leave === null) return null;
  return (
    <IconButton
      label={commonWords.signOut}
      onClick={() => void leave().catch((error: unknown) => showError(commonWords.signOutFailed, error))}
    >
      <LogOut />
    </IconButton>
  );
}
