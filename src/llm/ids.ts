/** Ids in production: UUIDv7, which sort by when they were made. */
import { v7 } from 'uuid';
import type { Ids } from '../core/ids.ts';

// Branding what was just made: the one place here where an id comes into being.
export const uuids: Ids = { next: <T extends string>() => v7() as T };
