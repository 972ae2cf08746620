import { Tooltip as Radix } from 'radix-ui';
import type { ReactElement } from 'react';
import { KeyHint } from '../text/key-hint.tsx';
import css from './tooltip.module.css';

type Props = {
  text: string;
  keys?: string | undefined;
  side?: 'top' | 'right';
  /** While the child shows the text itself. */
  off?: boolean;
  children: ReactElement;
};

/** Tooltip of its single child element, shown on hover and on focus. */
export function Tooltip({ text, keys, side = 'top', off = false, children }: Props) {
  return (
    <Radix.Root delayDuration={400} {...(off ? { open: false } : {})}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={css.tooltip} side={side} sideOffset={6} collisionPadding={8}>
          {text}
          {keys !== undefined && <KeyHint keys={keys} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Wraps all pages once, so that consecutive tooltips open without delay. */
export const TooltipProvider = Radix.Provider;
