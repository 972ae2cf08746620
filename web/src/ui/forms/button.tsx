/** Buttons. An icon button shows its label as a tooltip and to screen readers. */
import type { ComponentProps, ReactNode } from 'react';
import { classes } from '../classes.ts';
import css from './button.module.css';
import { Spinner } from '../state/spinner.tsx';
import { Tooltip } from '../layout/tooltip.tsx';

/** `risky`: opens a `ConfirmDialog`, and says so by its dots. `danger`: the button of that dialog. */
export type ButtonVariant = 'primary' | 'secondary' | 'quiet' | 'risky' | 'danger';

type Look = {
  variant?: ButtonVariant | undefined;
  size?: 'small' | 'medium' | undefined;
};

type Plain = Omit<ComponentProps<'button'>, 'children'>;

export function buttonClass({ variant = 'secondary', size = 'medium' }: Look, isIcon = false): string {
  return classes(css.button, css[variant], size === 'small' && css.small, isIcon && css.icon);
}

/** `busy`: shows a spinner, and a click does nothing. It keeps the focus, which a disabled button loses. */
export function Button({
  variant,
  size,
  busy = false,
  disabled,
  className,
  onClick,
  children,
  ...rest
}: Plain & Look & { busy?: boolean | undefined; children: ReactNode }) {
  return (
    <button
      type="button"
      {...rest}
      className={classes(buttonClass({ variant, size }), className)}
      disabled={disabled}
      aria-disabled={busy || undefined}
      aria-busy={busy}
      // Also the click of a field's Enter, so that no form is sent twice.
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {busy && <Spinner />}
      {children}
      {variant === 'risky' && ' …'}
    </button>
  );
}

/** `label`: tooltip and accessible name; `keys`: shortcut in the tooltip. */
export function IconButton({
  label,
  keys,
  variant = 'quiet',
  size,
  className,
  children,
  ...rest
}: Plain & Look & { label: string; keys?: string | undefined; children: ReactNode }) {
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={classes(buttonClass({ variant, size }, true), className)}
      >
        {children}
      </button>
    </Tooltip>
  );
}
