import { useEffect, useId, useRef, type ReactNode } from 'react';
import { Button } from '../forms/button.tsx';
import { ErrorText } from '../state/error-text.tsx';
import { Dialog } from './dialog.tsx';
import { commonWords } from '../../words.ts';
import css from './form-dialog.module.css';

/** A dialog that sends a request: the fields, if any, what went wrong, and the buttons. */
export function FormDialog({
  title,
  description,
  wide,
  submit,
  keep = commonWords.cancel,
  danger = false,
  canSubmit = true,
  saving,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  description?: string | undefined;
  wide?: boolean;
  /** Label of the button that sends the form. */
  submit: string;
  /** Label of the button that closes the dialog. */
  keep?: string;
  /** See `ConfirmDialog`, which sets it. */
  danger?: boolean;
  canSubmit?: boolean;
  /** `error`: what no field shows. */
  saving: { isPending: boolean; error: unknown };
  onSubmit: () => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const wasSaving = useRef(false);
  // What had the focus is disabled while the request runs, and loses it.
  useEffect(() => {
    const hasEnded = wasSaving.current && !saving.isPending;
    wasSaving.current = saving.isPending;
    if (hasEnded) (form.current?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? button.current)?.focus();
  }, [saving.isPending]);
  // Its end would otherwise close, or replace, what is opened meanwhile.
  const close = (): void => void (saving.isPending || onClose());
  return (
    <Dialog
      open
      onClose={close}
      title={title}
      description={description}
      wide={wide ?? false}
      closesBy="escape"
      actions={
        <>
          <Button onClick={close} disabled={saving.isPending}>
            {keep}
          </Button>
          <Button
            ref={button}
            type="submit"
            form={id}
            variant={danger ? 'danger' : 'primary'}
            busy={saving.isPending}
            disabled={!canSubmit}
          >
            {submit}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        id={id}
        className={css.form}
        // The API names faults, so that every field shows them in the same way.
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (canSubmit && !saving.isPending) onSubmit();
        }}
      >
        {children !== undefined && (
          <fieldset className={css.fields} disabled={saving.isPending}>
            {children}
          </fieldset>
        )}
        {saving.error !== null && (
          <div className={css.error} role="alert">
            <ErrorText error={saving.error} />
          </div>
        )}
      </form>
    </Dialog>
  );
}
