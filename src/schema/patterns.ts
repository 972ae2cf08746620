/** Patterns of text, and what text must be to match. */
import { BRANCH_NAME } from '../core/conversation/branch.ts';
import { TOOL_GLOB } from '../core/run/policy.ts';

/** Text that a PostgreSQL text column can store: neither NUL nor unpaired surrogates. */
export const PLAIN_TEXT = '^[^\\p{Cs}\\u0000]*$';

/** Text that is not blank. */
export const FILLED = '\\S';

export const EVENT_ID = '^[0-9]{1,15}$';
/** The id of an entry of a log: the epoch of its run, and its number within the run. */
export const LOG_ENTRY_ID = '^[0-9]{1,15}-[0-9]{1,9}$';
export const COST = '^[0-9]{1,7}([.][0-9]{1,9})?$';

/** The name of a tool or a role. */
export const NAME = '^[a-zA-Z0-9_-]{1,64}$';
export const NEW_BRANCH = '^[A-Za-z0-9][A-Za-z0-9._-]*$';
export const BASE64 = '^[A-Za-z0-9+/]+={0,2}$';
export const HTTP_URL = '^https?://';
export const DOCUMENT_TYPE = '^(application/pdf|text/[a-z0-9.+-]+)$';
export const TURN = '^[ua][1-9][0-9]{0,8}$';

const BRANCH = '1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit';

/** Names: a wrong one may be repeated in a message, other text may not. */
export const NAME_EXPECTATIONS: Readonly<Record<string, string>> = {
  [NAME]: '1 to 64 letters, digits, "_" or "-"',
  [BRANCH_NAME]: BRANCH,
  [NEW_BRANCH]: BRANCH,
  [TOOL_GLOB]: 'the name of a tool or a glob, of letters, digits, "_", "-" and "*"',
};

export const TEXT_EXPECTATIONS: Readonly<Record<string, string>> = {
  [BASE64]: 'Base64 text',
  [HTTP_URL]: 'an http or https URL',
  [DOCUMENT_TYPE]: 'application/pdf or a text type such as text/plain',
  [TURN]: 'a turn such as u1 or a2',
  [EVENT_ID]: 'a whole number of at most 15 digits',
  [LOG_ENTRY_ID]: 'the id of a log entry, such as 3-12',
  [COST]: 'US dollars, such as 0.0125',
};
