/**
 * Names of MCP tools as models see them: `server__tool`, in the characters and the length that every provider takes. A
 * name that had to be changed keeps apart from others by a few characters of its hash.
 */
import { createHash } from 'node:crypto';

const SEPARATOR = '__';

/** What providers take. */
const LONGEST = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;

const HASH_CHARACTERS = 8;

const SERVER_NAME = /^[a-zA-Z0-9_-]{1,32}$/;

/** The first separator of a tool's name ends its server's. */
export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name) && !name.includes(SEPARATOR) && !name.endsWith('_');
}

/** Null: no name of an MCP tool. */
export function serverOf(tool: string): string | null {
  const at = tool.indexOf(SEPARATOR);
  return at < 1 ? null : tool.slice(0, at);
}

/** `own`: what the server calls it. The same for the same names, whatever else the server has. */
export function toolName(server: string, own: string): string {
  const plain = own.replace(FORBIDDEN, '_');
  const full = `${server}${SEPARATOR}${plain}`;
  if (plain === own && full.length <= LONGEST) return full;
  const hash = createHash('sha256').update(own).digest('hex').slice(0, HASH_CHARACTERS);
  return `${full.slice(0, LONGEST - HASH_CHARACTERS - 1)}_${hash}`;
}
