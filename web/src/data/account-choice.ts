/** Whether the next sign-in with OpenID Connect lets the person choose another account. Stored for this tab. */

const KEPT_AS = 'nightshift.choose_account';

export function offerAccounts(): void {
  try {
    sessionStorage.setItem(KEPT_AS, '1');
  } catch {
    // Without storage the provider decides.
  }
}

export function areAccountsOffered(): boolean {
  try {
    return sessionStorage.getItem(KEPT_AS) !== null;
  } catch {
    return false;
  }
}

export function forgetOffer(): void {
  try {
    sessionStorage.removeItem(KEPT_AS);
  } catch {
    // There is none.
  }
}
