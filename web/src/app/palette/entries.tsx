/** The entries of the command palette. */
import { useNavigate } from '@tanstack/react-router';
import {
  Clock,
  Earth,
  FileSearch,
  Keyboard,
  LogOut,
  MessageSquare,
  Monitor,
  Moon,
  PanelLeft,
  ListChecks,
  Sun,
  UserCog,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { Context, Role } from 'nightshift/client';
import { contextName } from '../../data/format.ts';
import { useMay, useSignOut } from '../../data/query/session.ts';
import { showHelp } from '../../ui/forms/help.ts';
import { showError } from '../../ui/layout/toaster.tsx';
import { useTheme } from '../../ui/state/theme.ts';
import { useZone } from '../../ui/state/zone.ts';
import { appWords, commonWords, paletteWords, uiWords } from '../../words.ts';
import { usePlaces } from '../places.ts';
import { turnSidebar } from '../sidebar.ts';

export type Entry = {
  id: string;
  name: string;
  about?: string;
  keys?: string;
  icon: ReactNode;
  run: () => void;
};

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST_ROLES = 5;

export function usePages(): readonly Entry[] {
  const navigate = useNavigate();
  return usePlaces().map(({ to, name, key, icon: Icon }) => ({
    id: `page:${to}`,
    name,
    ...(key === '/' ? { keys: key } : { keys: appWords.shortcuts.keys.go(key) }),
    icon: <Icon aria-hidden="true" />,
    run: () => void navigate({ to }),
  }));
}

export function useActions(): readonly Entry[] {
  const navigate = useNavigate();
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const leave = useSignOut();
  const mayRun = useMay('run');
  const themes = [
    { to: 'light', label: uiWords.theme.light, icon: <Sun aria-hidden="true" /> },
    { to: 'dark', label: uiWords.theme.dark, icon: <Moon aria-hidden="true" /> },
    { to: 'system', label: uiWords.theme.system, icon: <Monitor aria-hidden="true" /> },
  ] as const;
  const other = zone === 'utc' ? 'local' : 'utc';
  return [
    ...(mayRun
      ? [
          {
            id: 'new-chat',
            name: paletteWords.newChat,
            icon: <MessageSquare aria-hidden="true" />,
            run: () => void navigate({ to: '/' }),
          },
        ]
      : []),
    ...themes
      .filter(({ to }) => to !== theme)
      .map(({ to, label, icon }) => ({
        id: `theme:${to}`,
        name: paletteWords.theme(label),
        icon,
        run: () => setTheme(to),
      })),
    {
      id: 'zone',
      name: paletteWords.zone(uiWords.zone[other]),
      icon: other === 'utc' ? <Earth aria-hidden="true" /> : <Clock aria-hidden="true" />,
      run: () => setZone(other),
    },
    {
      id: 'sidebar',
      name: appWords.shortcuts.turnSidebar,
      keys: 'b',
      icon: <PanelLeft aria-hidden="true" />,
      run: turnSidebar,
    },
    {
      id: 'help',
      name: appWords.shortcuts.title,
      keys: '?',
      icon: <Keyboard aria-hidden="true" />,
      run: showHelp,
    },
    ...(leave === null
      ? []
      : [
          {
            id: 'sign-out',
            name: commonWords.signOut,
            icon: <LogOut aria-hidden="true" />,
            run: () => void leave().catch((error: unknown) => showError(commonWords.signOutFailed, error)),
          },
        ]),
  ];
}

type Found = { contexts: readonly Context[]; roles: readonly Role[] };

/** `text`: as typed; empty: the most recently active contexts. */
export function useFound(text: string, { contexts, roles }: Found): readonly Entry[] {
  const navigate = useNavigate();
  const mayRead = useMay('read');
  if (!mayRead) return [];
  const ofContexts = contexts.map((context) => ({
    id: `context:${context.id}`,
    name: contextName(context),
    about: paletteWords.context(context.worker_name),
    icon: <MessageSquare aria-hidden="true" />,
    run: () => void navigate({ to: '/contexts/$contextId', params: { contextId: context.id } }),
  }));
  if (text === '') return ofContexts;
  const ofRoles = roles
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, MOST_ROLES)
    .map(({ name }) => ({
      id: `role:${name}`,
      name,
      about: paletteWords.role,
      icon: <UserCog aria-hidden="true" />,
      run: () => void navigate({ to: '/jobs', search: { role: name } }),
    }));
  const ofId = ID.test(text)
    ? [
        {
          id: 'job-of-id',
          name: paletteWords.jobOfId,
          icon: <ListChecks aria-hidden="true" />,
          run: () => void navigate({ to: '/jobs/$jobId', params: { jobId: text.toLowerCase() } }),
        },
        {
          id: 'context-of-id',
          name: paletteWords.contextOfId,
          icon: <MessageSquare aria-hidden="true" />,
          run: () => void navigate({ to: '/contexts/$contextId', params: { contextId: text.toLowerCase() } }),
        },
      ]
    : [];
  const search = {
    id: 'search',
    name: paletteWords.search(text),
    icon: <FileSearch aria-hidden="true" />,
    run: () => void navigate({ to: '/search', search: { q: text } }),
  };
  return [...ofId, ...ofContexts, ...ofRoles, search];
}
