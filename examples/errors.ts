/**
 * Prints a hint instead of a stack trace if the platform is not running, or runs without the tools of the shop. Your
 * own programs should catch `NightshiftError` where they can handle it.
 */
import { NightshiftError } from 'nightshift/client';

const HINTS: Partial<Record<NightshiftError['code'], string>> = {
  unreachable: 'Start the platform: npm start. If it runs elsewhere, set NIGHTSHIFT_URL.',
  unauthorized: 'Set NIGHTSHIFT_API_KEY to a key of the platform.',
  unknown_role: 'Start the platform with the shop: NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start.',
};

export function explainErrors(): void {
  process.on('uncaughtException', (error) => {
    const hint = error instanceof NightshiftError ? HINTS[error.code] : undefined;
    console.error(hint === undefined ? error : `${error.message}\n${hint}`);
    process.exit(1);
  });
}
