/**
 * What the examples say in place of a stack when the platform is not there, or was started without the tools of the shop.
 * A program of your own catches `NightshiftError` where it can do something about it.
 */
import { NightshiftError } from 'nightshift/client';

const HINTS: Partial<Record<NightshiftError['code'], string>> = {
  unreachable: 'Start the platform: npm start. NIGHTSHIFT_URL names one that runs elsewhere.',
  unauthorized: 'NIGHTSHIFT_API_KEY must be one of the keys of the platform.',
  unknown_role:
    'Start the platform with the shop: NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start.',
};

export function explainErrors(): void {
  process.on('uncaughtException', (error) => {
    const hint = error instanceof NightshiftError ? HINTS[error.code] : undefined;
    console.error(hint === undefined ? error : `${error.message}\n${hint}`);
    process.exit(1);
  });
}
