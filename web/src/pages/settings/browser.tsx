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
import { commonWords, settingsWords, uiWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './settings.module.css';

const words = settingsWords.browser;

export function Browser() {
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const session = useSession();
  const leave = useSignOut();
  return (
    <div className={listCss.stack}>
      <Card title={uiWords.theme.title}>
        <Segments
          label={uiWords.theme.title}
          value={theme}
          segments={[
            { value: 'system', label: uiWords.theme.system },
            { value: 'light', label: uiWords.theme.light },
            { value: 'dark', label: uiWords.theme.dark },
          ]}
          onChange={setTheme}
        />
      </Card>
      <Card title={uiWords.zone.title}>
        <Segments label={uiWords.zone.title} value={zone} segments={ZONES} onChange={setZone} />
      </Card>
      <Card title={words.keyboard}>
        <Button onClick={showHelp}>
          <Keyboard aria-hidden="true" /> {words.shortcuts}
        </Button>
      </Card>
      <Card title={words.session}>
        <div className={css.session}>
          {session?.scopes.includes('operator') === true && <p className={css.about}>{words.operator}</p>}
          {session?.tenant != null && leave !== null && (
            <p className={css.about}>
              {session.user === null ? (
                <Sentence text={words.withKey} gaps={{ tenant: <strong>{session.tenant}</strong> }} />
              ) : (
                <Sentence
                  text={words.asUser}
                  gaps={{ tenant: <strong>{session.tenant}</strong>, user: <code>{session.user}</code> }}
                />
              )}
            </p>
          )}
          {leave === null ? (
            <p className={css.about}>{words.noKeys}</p>
          ) : (
            <Button onClick={() => void leave().catch((error: unknown) => showError(commonWords.signOutFailed, error))}>
              <LogOut aria-hidden="true" /> {words.signOut}
            </Button>
          )}
        </div>
      </Card>
    </div>
  );
}
