/**
 * A field that inherits a value: greyed until it is overridden, and with a way back to the inherited value afterwards. The
 * focus goes to what replaces the pressed button: the field, or the button that overrides it.
 */
import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { Button } from '../ui/forms/button.tsx';
import { actionOn, configWords } from '../words.ts';
import { isUnset } from './changes.ts';
import css from './config-editor.module.css';
import type { EditedConfig } from './edited.ts';
import { FIELDS } from './fields.ts';
import { isList, isNothing, type Applied, type Replaceable } from './inherited.ts';
import { InheritedField } from './inherited-field.tsx';

type Props = {
  member: Replaceable;
  inherited: Applied<Replaceable>;
  edited: EditedConfig;
  /** Edits the own value. */
  children: ReactNode;
};

export function OwnOrInherited({ member, inherited, edited: { draft, onChange }, children }: Props) {
  const field = useRef<HTMLDivElement>(null);
  const isPressed = useRef(false);
  const isOwn = draft[member] !== null;
  // An empty list is no value that one would override: it is edited at once.
  const isOpen = isOwn || (isList(member) && isNothing(inherited.written));
  useLayoutEffect(() => {
    if (isPressed.current) field.current?.querySelector<HTMLElement>('input, textarea, button')?.focus();
    isPressed.current = false;
  });
  const set = (written: Applied<Replaceable>['written'] | []): void => {
    isPressed.current = true;
    onChange({ [member]: written });
  };
  return (
    <div ref={field} className={css.own}>
      {isOpen ? (
        <>
          {/* At one place, so that setting the first item of a list leaves the focus where it is. */}
          {children}
          {isOwn && (
            <p className={css.source}>
              <span>
                {isUnset(member, draft[member])
                  ? configWords.inherits(inherited.from)
                  : configWords.overrides(inherited.from)}
              </span>
              <Button
                size="small"
                variant="quiet"
                aria-label={actionOn(configWords.inherit, FIELDS[member].label)}
                onClick={() => set(null)}
              >
                {configWords.inherit}
              </Button>
            </p>
          )}
        </>
      ) : (
        <InheritedField
          member={member}
          applied={inherited}
          onOverride={() => set(inherited.written ?? (isList(member) ? [] : ''))}
        />
      )}
    </div>
  );
}
