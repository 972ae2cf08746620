/** Toast notifications. */
import { toast, Toaster as Sonner } from 'sonner';
import { readError } from '../state/read-error.ts';
import css from './toaster.module.css';

export function Toaster() {
  // At the top, because at the bottom toasts would cover the composer.
  return <Sonner position="top-center" closeButton toastOptions={{ className: css.toast ?? '' }} />;
}

export function showNotice(message: string): void {
  toast(message);
}

/** `did`: title of the toast, such as “Could not sign in again”. `why`: a sentence. The same one is shown once. */
export function showFailure(did: string, why: string): void {
  toast.error(did, { id: `${did} ${why}`, description: why });
}

/** `did`: title of the toast, such as “Could not cancel the job”. */
export function showError(did: string, error: unknown): void {
  const { message, code } = readError(error);
  toast.error(did, { description: `${message} (${code})` });
}
