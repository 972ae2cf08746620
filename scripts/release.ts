/**
 * Prepares a release: `node scripts/release.ts 0.2.0`. Writes the version into package.json and its lockfile, and into that
 * of `create-nightshift`, dates the section of the CHANGELOG, commits and tags. Pushing the tag publishes both packages
 * (.github/workflows/release.yml).
 * Refuses where the working tree has changes, the tag exists, a package does not name its repository, OLDEST_VERSION is not
 * the minor version before, or the CHANGELOG has no section for the version.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { OLDEST_VERSION, isOlder, minorBefore } from '../src/db/setup/migrations-table.ts';

const ROOT = path.join(import.meta.dirname, '..');
const PACKAGES = [ROOT, path.join(ROOT, 'packages', 'create-nightshift')];
const CHANGELOG = path.join(ROOT, 'CHANGELOG.md');

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) stop('Name the version: node scripts/release.ts 0.2.0');
if (git('status', '--porcelain') !== '') stop('The working tree has changes: commit them first.');
if (git('tag', '--list', `v${version}`) !== '') stop(`The tag v${version} exists already.`);

for (const folder of PACKAGES)
  if (!('repository' in JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))))
    stop(
      `${path.relative(ROOT, path.join(folder, 'package.json'))} has no "repository": npm publishes with provenance only what names its public address. Add it.`,
    );

const tags = git('tag', '--list', 'v[0-9]*', '--merged', 'HEAD').split('\n');
const oldest = minorBefore(tags, version) ?? version;
if (isOlder(OLDEST_VERSION, oldest) || isOlder(oldest, OLDEST_VERSION))
  stop(`OLDEST_VERSION in src/db/setup/migrations-table.ts is ${OLDEST_VERSION}: make it that of ${oldest}.`);

const changelog = readFileSync(CHANGELOG, 'utf8');
const heading = `## ${version} (unreleased)`;
if (!changelog.includes(heading)) stop(`CHANGELOG.md has no section "${heading}".`);
const today = new Date().toISOString().slice(0, 10);
writeFileSync(CHANGELOG, changelog.replace(heading, `## ${version} (${today})`));
for (const folder of PACKAGES)
  execFileSync('npm', ['version', version, '--no-git-tag-version', '--allow-same-version'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
git('commit', '--all', '--message', `Release ${version}`);
git('tag', '--annotate', `v${version}`, '--message', `Nightshift ${version}`);
process.stdout.write(`Release ${version} is committed and tagged. It is published by: git push --follow-tags\n`);

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function stop(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
