/** Lines of a name and a value. */
import type { Ink } from './ink.ts';

/** Null and empty values are left out. Values are safe lines, and may have colours. */
export function fields(ink: Ink, values: readonly (readonly [name: string, value: string | null])[]): string[] {
  const shown = values.filter(([, value]) => value !== null && value !== '');
  return shown.map(([name, value]) => `${ink('dim', name.padEnd(10))}${value}`);
}
