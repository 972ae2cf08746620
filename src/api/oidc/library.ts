import { once } from '../../core/once.ts';

/** Loaded for the first sign-in: most processes have none. */
export const library = once(() => import('openid-client'));
