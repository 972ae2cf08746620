// Tenants of the platform that the run shares: one for each test file, named after it.
import { readdirSync } from 'node:fs';
import path from 'node:path';

const SUFFIX = '.test.ts';

export function keyOf(tenant: string): string {
  return `key-of-the-tenant-${tenant}`;
}

/** The key of the operator of the shared platform. */
export const ADMIN_KEY = 'key-of-the-operator-of-all-tenants';

/** The value of NIGHTSHIFT_API_KEYS. */
export function keysOfAll(): string {
  return readdirSync(path.join(import.meta.dirname, '..'))
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .map((tenant) => `${keyOf(tenant)}:${tenant}`)
    .join(',');
}
