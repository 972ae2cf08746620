/**
 * Where a module's syntax is broken. A SyntaxError of V8 does not say when the module was imported; Node's own check of
 * the file does.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** `file://…:line`, or null where the file itself is sound. */
export async function syntaxPlace(path: string): Promise<string | null> {
  const check = spawn(process.execPath, ['--check', path], { stdio: ['ignore', 'ignore', 'pipe'] });
  check.on('error', () => check.stderr.destroy());
  const said = await text(check.stderr).catch(() => '');
  return placeIn(said);
}

/** The first place in a file that an error's text names. */
export function placeIn(said: string): string | null {
  return /^\s*(?:at (?:.*\()?)?((?:file:\/\/)?\/\S+?:\d+(?::\d+)?)\)?$/m.exec(said)?.[1] ?? null;
}
