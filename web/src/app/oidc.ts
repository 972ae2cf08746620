/** Sign-in with OpenID Connect: the API sends the browser to the provider, and back. */

import { areAccountsOffered, offerAccounts } from '../data/account-choice.ts';

/** Where the sign-in begins. It comes back to this page. */
export function entryAddress(): string {
  const { pathname, search, hash } = globalThis.location;
  const query = new URLSearchParams({ return_to: pathname + search + hash });
  if (areAccountsOffered()) query.set('choose', '1');
  return `/api/session/oidc?${query}`;
}

const AGAIN = 'Try again.';
const SENTENCES: Readonly<Record<string, string>> = {
  sign_in_expired: `The sign-in took too long, or began in another window. ${AGAIN}`,
  sign_in_denied: 'The sign-in was refused or cancelled at the provider.',
  sign_in_failed: `The answer of the provider is not valid. ${AGAIN} If this happens again, ask the operator to look in the log.`,
  no_access: 'Your account has no access. Ask the operator for a grant to one of your groups.',
  provider_unavailable: 'The provider does not answer. Try again later, or use an API key.',
  unavailable: 'The sign-in could not be stored. Try again in a moment.',
  tenant_inactive: 'The tenant of your account is suspended or deleted.',
  rate_limited: 'Too many sign-ins. Try again in a minute.',
};

/** Why the last sign-in failed: from the `error` parameter; removed, so a reload does not show it again. */
export function takeEntryError(): string | null {
  const url = new URL(globalThis.location.href);
  const code = url.searchParams.get('error');
  const sentence = code !== null && Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
  if (sentence === undefined) return null;
  // Another account of this person may have access.
  if (code === 'no_access') offerAccounts();
  url.searchParams.delete('error');
  globalThis.history.replaceState(globalThis.history.state, '', url);
  return sentence;
}
