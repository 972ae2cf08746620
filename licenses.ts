// The licenses of the packages that a bundle contains: they must come with every copy.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const OF_PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const IS_TEXT = /^(?:licen[cs]e|notice|copying)(?:\b|-)/i;

/** `modules`: the paths of all files in the bundle. The packages are in the order of their names. */
export function licensesOf(modules: Iterable<string>): string {
  const folders = new Set<string>();
  for (const file of modules) {
    const folder = OF_PACKAGE.exec(file.replaceAll('\\', '/'))?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  const sections = [...folders].map(licenseOf).toSorted((a, b) => a.localeCompare(b, 'en'));
  return `This package contains the following packages.\n\n${[...new Set(sections)].join('\n\n')}\n`;
}

function licenseOf(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((name) => IS_TEXT.test(name))
    .map((name) => readFileSync(path.join(folder, name), 'utf8').trim());
  const title = `${memberOf(manifest, 'name')} ${memberOf(manifest, 'version')}: ${memberOf(manifest, 'license')}`;
  return [title, '-'.repeat(title.length), ...texts].join('\n\n');
}

function memberOf(manifest: unknown, name: string): string {
  const value =
    typeof manifest === 'object' && manifest !== null && Object.entries(manifest).find(([key]) => key === name);
  return Array.isArray(value) && typeof value[1] === 'string' ? value[1] : 'unknown';
}
