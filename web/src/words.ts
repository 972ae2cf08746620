/**
 * All texts of the console. An area of `web/src` has a constant here. Its file has no side effects, and the bundler is
 * told so (`web/vite.config.ts`): the texts of a page are in the chunk of that page, although all pages import this file.
 */
export { actionOn, commonWords } from './words/common.ts';
export { count } from './words/count.ts';
export { statusWords, type Status } from './words/status.ts';
export { durationWords, uiWords, type SecretKind } from './words/ui.ts';
export { apiKeysWords } from './words/api-keys.ts';
export { usageWords } from './words/usage.ts';
export { tenantsWords } from './words/pages/tenants.ts';
