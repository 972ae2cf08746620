/** Entry point: renders the console. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { preloadPage } from './app/router.tsx';
import { takeEntryError } from './app/oidc.ts';
import { applyTheme, readTheme } from './ui/state/theme.ts';
import './ui/tokens.css';
import './ui/base.css';

preloadPage();
applyTheme(readTheme());
const root = document.querySelector('#root');
if (root === null) throw new Error('index.html has no element #root.');
const entryError = takeEntryError();
createRoot(root).render(
  <StrictMode>
    <App entryError={entryError} />
  </StrictMode>,
);
