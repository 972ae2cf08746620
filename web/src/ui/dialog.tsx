import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useRef } from 'react';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import { classes } from './classes.ts';
import css from './dialog.module.css';

/** Asks or shows something before all else goes on. Escape and a click beside it close it. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  wide = false,
  actions,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string | undefined;
  wide?: boolean;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  const content = useRef<HTMLDivElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={css.veil} />
        <Radix.Content
          ref={content}
          className={classes(css.dialog, wide && css.wide)}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (content.current !== null) firstPlace(content.current).focus();
          }}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className={css.head}>
            <div>
              <Radix.Title asChild>
                <h2>{title}</h2>
              </Radix.Title>
              {description !== undefined && (
                <Radix.Description className={css.description}>{description}</Radix.Description>
              )}
            </div>
          </header>
          {children}
          {actions !== undefined && <footer className={css.actions}>{actions}</footer>}
          {/* Last, so that a dialog begins at what it is about; without a tooltip, which would take the first Escape. */}
          <Radix.Close
            className={classes(buttonClass({ variant: 'quiet', size: 'small' }, true), css.close)}
            aria-label="Close"
          >
            <X />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Where one begins: in the first field, else at the words. Where a field calls up a keyboard on the screen, at the words too. */
function firstPlace(dialog: HTMLElement): HTMLElement {
  if (globalThis.matchMedia('(pointer: coarse)').matches) return dialog;
  const fields = 'input:not([type="file"], :disabled), textarea:not(:disabled)';
  return dialog.querySelector<HTMLElement>(fields) ?? dialog;
}
