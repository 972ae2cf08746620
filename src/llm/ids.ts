/** Ids in production: UUIDv7, which sort by creation time. */
import { v7 } from 'uuid';
import type { Ids } from '../core/ids.ts';

// The only place that brands a newly generated id.
export const uuids: Ids = { next: <T extends string>() => v7() as T };
