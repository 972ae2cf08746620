/**
 * Names of MCP tools for models: `server__tool`, limited to the characters and length that every provider accepts. A
 * name that had to be changed gets a hash suffix to stay unique.
 */
import { createHash } from 'node:crypto';
import { SERVER_SEPARATOR } from '../../../core/tools/mcp-tool-name.ts';

/** The limit of providers. */
const LONGEST = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;

const HASH_CHARACTERS = 8;

const SERVER_NAME = /^[a-zA-Z0-9_-]{1,32}$/;

/** A server name has no separator. */
export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name) && !name.includes(SERVER_SEPARATOR) && !name.endsWith('_');
}

/** `own`: the server's name of the tool. The result depends only on both names. */
export function toolName(server: string, own: string): string {
  const plain = own.replace(FORBIDDEN, '_');
  const full = `${server}${SERVER_SEPARATOR}${plain}`;
  if (plain === own && full.length <= LONGEST) return full;
  const hash = createHash('sha256').update(own).digest('hex').slice(0, HASH_CHARACTERS);
  return `${full.slice(0, LONGEST - HASH_CHARACTERS - 1)}_${hash}`;
}
