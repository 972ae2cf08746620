/**
 * Finds the location of a syntax error in a module. The SyntaxError of an imported module does not contain it; `node
 * --check` prints it.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** `file://…:line`; null: the file has no syntax error. */
export async function syntaxPlace(path: string): Promise<string | null> {
  const check = spawn(process.execPath, ['--check', path], { stdio: ['ignore', 'ignore', 'pipe'] });
  check.on('error', () => check.stderr.destroy());
  const errorText = await text(check.stderr).catch(() => '');
  return placeIn(errorText);
}

/** The first file location in an error text. */
export function placeIn(errorText: string): string | null {
  return /^\s*(?:at (?:.*\()?)?((?:file:\/\/)?\/\S+?:\d+(?::\d+)?)\)?$/m.exec(errorText)?.[1] ?? null;
}
