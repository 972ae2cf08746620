/** Settings of this browser. */
import { Keyboard, LogOut } from 'lucide-react';
import { useSession, useSignOut } from '../../data/query/session.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Segments } from '../../ui/forms/filters.tsx';
import { showHelp } from '../../ui/forms/help.ts';
import { useTheme } from '../../ui/state/theme.ts';
import { useZone } from '../../ui/state/zone.ts';
import { ZONES } from '../../ui/state/zone-menu.tsx';
import { showError } from '../../ui/layout/toaster.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';

export function Browser() {
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const session = useSession();
  const leave = useSignOut();
  return (
    <div className={listCss.stack}>
      <Card title="Theme">
        <Segments
          label="Theme"
          value={theme}
          segments={[
            { value: 'system', label: 'System' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          onChange={setTheme}
        />
      </Card>
      <Card title="Time zone">
        <Segments label="Time zone" value={zone} segments={ZONES} onChange={setZone} />
      </Card>
      <Card title="Keyboard">
        <Button onClick={showHelp}>
          <Keyboard aria-hidden="true" /> Show all shortcuts
        </Button>
      </Card>
      <Card title="Session">
        <div className={css.session}>
          {session?.scopes.includes('operator') === true && (
            <p className={css.about}>Signed in as the operator, with the admin key.</p>
          )}
          {session?.tenant != null && leave !== null && (
            <p className={css.about}>
              Signed in to the tenant <strong>{session.tenant}</strong>
              {session.user === null ? (
                ' with an API key.'
              ) : (
                <>
                  {' '}
                  as <code>{session.user}</code>.
                </>
              )}
            </p>
          )}
          {leave === null ? (
            <p className={css.about}>There are no API keys, so no sign-in is needed.</p>
          ) : (
            <Button onClick={() => void leave().catch((error: unknown) => showError('Could not sign out', error))}>
              <LogOut aria-hidden="true" /> Sign out of this browser
            </Button>
          )}
        </div>
      </Card>
    </div>
  );
}
