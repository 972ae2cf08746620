/**
 * Makes stack traces of the bundled code name the source files, by means of the source maps beside the bundle. A map is
 * loaded only when a stack trace needs it: all maps together would double the memory of an idle process.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Does nothing when Node.js runs the sources directly. */
export function nameSources(): void {
  if (import.meta.url.endsWith('.ts')) return;
  const maps = new Map<string, SourceMap | null>();
  const mapOf = (file: string): SourceMap | null => {
    const known = maps.get(file);
    if (known !== undefined) return known;
    const read = readMap(file);
    maps.set(file, read);
    return read;
  };
  Error.prepareStackTrace = (error, sites) =>
    [headOf(error), ...sites.map((site) => `    at ${placed(site, mapOf)}`)].join('\n');
}

function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function placed(site: NodeJS.CallSite, mapOf: (file: string) => SourceMap | null): string {
  // V8's own text: call sites have a toString method that the types do not declare.
  // oxlint-disable-next-line typescript/no-base-to-string
  const text = String(site);
  const [file, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
  if (!file?.startsWith(HERE) || line === null || column === null) return text;
  const origin = mapOf(file)?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return text;
  return text.replace(`${file}:${line}:${column}`, `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`);
}

/** The folder of the bundle. */
const HERE = new URL('.', import.meta.url).href;

/** Null: the map is missing or unreadable. */
function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${file}.map`), 'utf8')));
  } catch {
    return null;
  }
}
