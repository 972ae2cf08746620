import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useRef, type ReactNode } from 'react';
import { buttonClass } from '../forms/button.tsx';
import { classes } from '../classes.ts';
import { commonWords } from '../../words.ts';
import css from './dialog.module.css';

/** A modal dialog. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  wide = false,
  closesBy = 'any',
  actions,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string | undefined;
  wide?: boolean;
  /** `any`: also by a click outside. `escape`: by no stray click. `buttons`: by no key either. */
  closesBy?: 'any' | 'escape' | 'buttons';
  actions?: ReactNode;
  children?: ReactNode;
}) {
  const content = useRef<HTMLDivElement>(null);
  const opener = useRef<Element>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={css.veil} />
        <Radix.Content
          ref={content}
          className={classes(css.dialog, wide && css.wide)}
          onInteractOutside={(event) => closesBy !== 'any' && event.preventDefault()}
          onEscapeKeyDown={(event) => closesBy === 'buttons' && event.preventDefault()}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            opener.current = openerOf(document.activeElement);
            if (content.current !== null) firstPlace(content.current).focus();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            giveBackFocus(opener.current);
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
          {/* Last in the tab order. Without a tooltip, which would consume the first Escape. */}
          <Radix.Close
            className={classes(buttonClass({ variant: 'quiet', size: 'small' }, true), css.close)}
            aria-label={commonWords.close}
          >
            <X />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** An item of a menu disappears with it; its button stays. */
function openerOf(focused: Element | null): Element | null {
  const button = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby') ?? null;
  return button === null ? focused : document.getElementById(button);
}

/**
 * To what had the focus before the dialog, else to the page; not if it is elsewhere by now, as in the next dialog. The
 * page may have it already (app/kept-focus.ts).
 */
function giveBackFocus(opener: Element | null): void {
  const { activeElement, body } = document;
  const main = document.getElementById('main');
  if (activeElement !== null && activeElement !== body && activeElement !== main) return;
  const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== body;
  const place = isThere ? opener : main;
  place?.focus({ preventScroll: true });
}

/** Initial focus: the first field, else the dialog. On touch screens always the dialog, to keep the keyboard closed. */
function firstPlace(dialog: HTMLElement): HTMLElement {
  if (globalThis.matchMedia('(pointer: coarse)').matches) return dialog;
  const fields = 'input:not([type="file"], :disabled), textarea:not(:disabled)';
  return dialog.querySelector<HTMLElement>(fields) ?? dialog;
}
