/** Sign-in with OpenID Connect: the API sends the browser to the provider, and back. */

import { areAccountsOffered, offerAccounts } from '../data/account-choice.ts';
import { appWords } from '../words.ts';

/** Where the sign-in begins. It comes back to this page. */
export function entryAddress(): string {
  const { pathname, search, hash } = globalThis.location;
  const query = new URLSearchParams({ return_to: pathname + search + hash });
  if (areAccountsOffered()) query.set('choose', '1');
  return `/api/session/oidc?${query}`;
}

/** Why the last sign-in failed: from the `error` parameter; removed, so a reload does not show it again. */
export function takeEntryError(): string | null {
  const { errors } = appWords.signIn;
  const url = new URL(globalThis.location.href);
  const code = url.searchParams.get('error');
  const sentence = code !== null && Object.hasOwn(errors, code) ? errors[code] : undefined;
  if (sentence === undefined) return null;
  // Another account of this person may have access.
  if (code === 'no_access') offerAccounts();
  url.searchParams.delete('error');
  globalThis.history.replaceState(globalThis.history.state, '', url);
  return sentence;
}
