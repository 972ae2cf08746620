/** Nightshift within the process of another service. The platform is loaded with the first instance. */
import type { Nightshift, NightshiftOptions } from './options.ts';

/**
 * Connects to the services and returns an instance. Several instances in one process need different schemas; with a shared
 * Redis also different prefixes. Rejects with `NightshiftStartError`: options are invalid, PostgreSQL does not answer, or
 * its tables are missing or older (`migrate`). Then nothing is left open, and you may try again.
 */
export async function createNightshift(options: NightshiftOptions): Promise<Nightshift> {
  const { openNightshift } = await import('./open.ts');
  return openNightshift(options);
}
