/** Whether the API is for more than the user of this machine. */
import type { Config } from './config.ts';

/** The settings that give access to callers elsewhere. */
export type AccessSettings = Pick<Config, 'apiKeys' | 'adminKey' | 'oidc'>;

/** Whether requests need a key or a sign-in from the start, even if the API has made no key. */
export function isSecured({ apiKeys, adminKey, oidc }: AccessSettings): boolean {
  return apiKeys.length > 0 || adminKey !== null || oidc !== null;
}
