/** A dropdown menu of actions or of options. */
import { Check } from 'lucide-react';
import { DropdownMenu as Radix } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { classes } from '../classes.ts';
import { KeyHint } from '../text/key-hint.tsx';
import css from './menu.module.css';

/** `trigger`: a button that accepts a ref. It gets the focus when the menu closes, unless `onClosed` moved it. */
export function Menu({
  trigger,
  align = 'end',
  onClosed,
  children,
}: {
  trigger: ReactElement;
  align?: 'start' | 'center' | 'end';
  /** Returns whether it moved the focus. */
  onClosed?: () => boolean;
  children: ReactNode;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className={css.menu}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => onClosed?.() === true && event.preventDefault()}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({
  icon,
  keys,
  note,
  danger = false,
  disabled = false,
  onSelect,
  children,
}: {
  icon?: ReactNode;
  keys?: string;
  /** Shown after the label in smaller type. */
  note?: string | undefined;
  danger?: boolean;
  disabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Radix.Item className={classes(css.item, danger && css.danger)} disabled={disabled} onSelect={() => onSelect()}>
      {icon}
      <span className={css.grow}>{children}</span>
      {note !== undefined && <span className={css.note}>{note}</span>}
      {keys !== undefined && <KeyHint keys={keys} />}
    </Radix.Item>
  );
}

/** A menu item that downloads a file. */
export function MenuDownload({ icon, href, children }: { icon?: ReactNode; href: string; children: ReactNode }) {
  return (
    <Radix.Item asChild className={css.item}>
      <a href={href} download>
        {icon}
        <span className={css.grow}>{children}</span>
      </a>
    </Radix.Item>
  );
}

export function MenuChoice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string; icon?: ReactNode }[];
  onChange: (value: Value) => void;
}) {
  return (
    <Radix.RadioGroup value={value} aria-label={label}>
      <Radix.Label className={css.label}>{label}</Radix.Label>
      {options.map((option) => (
        <Radix.RadioItem
          key={option.value}
          value={option.value}
          className={css.item}
          onSelect={() => onChange(option.value)}
        >
          {option.icon}
          <span className={css.grow}>{option.label}</span>
          <span className={css.check}>
            <Radix.ItemIndicator>
              <Check />
            </Radix.ItemIndicator>
          </span>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

/** Items of which each is on or off. The menu stays open. */
export function MenuChecks<Value extends string>({
  label,
  options,
  onChange,
}: {
  label: string;
  options: readonly { value: Value; label: string; checked: boolean }[];
  onChange: (value: Value, checked: boolean) => void;
}) {
  return (
    <Radix.Group aria-label={label}>
      <Radix.Label className={css.label}>{label}</Radix.Label>
      {options.map((option) => (
        <Radix.CheckboxItem
          key={option.value}
          className={css.item}
          checked={option.checked}
          onCheckedChange={(checked) => onChange(option.value, checked)}
          onSelect={(event) => event.preventDefault()}
        >
          <span className={css.grow}>{option.label}</span>
          <span className={css.check}>
            <Radix.ItemIndicator>
              <Check />
            </Radix.ItemIndicator>
          </span>
        </Radix.CheckboxItem>
      ))}
    </Radix.Group>
  );
}

/** Heading of the items below it. */
export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className={css.label}>{children}</Radix.Label>;
}

export function MenuLine() {
  return <Radix.Separator className={css.line} />;
}
