/** Short words about what was just done, at the edge of the page. */
import { toast, Toaster as Sonner } from 'sonner';
import { readError } from './read-error.ts';
import css from './toaster.module.css';

export function Toaster() {
  // At the top: below it would cover what inputs are sent with.
  return <Sonner position="top-center" closeButton toastOptions={{ className: css.toast ?? '' }} />;
}

export function showNotice(message: string): void {
  toast(message);
}

/** `did`: what failed, such as “The job was not cancelled”. */
export function showError(did: string, error: unknown): void {
  const { message, code } = readError(error);
  toast.error(did, { description: `${message} (${code})` });
}
