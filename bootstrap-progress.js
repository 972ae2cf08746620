// How far an installation is: how many of the packages of the lockfile are in node_modules. A terminal shows it in one line, which
// changes; all else gets a line every ten seconds. Plain JavaScript without dependencies, like bootstrap.js.
import fs from 'node:fs';
import path from 'node:path';

const TERMINAL_MS = 500;
const LINES_MS = 10_000;

/** Writes to `stream` until the function that it returns is called. `everyMs`: the time between two looks. */
export function showProgress(root, stream, everyMs = stream.isTTY ? TERMINAL_MS : LINES_MS) {
  const places = placesOf(root);
  const show = () => {
    const done = places.filter((place) => fs.existsSync(path.join(root, place, 'package.json'))).length;
    const line = `  ${done} of ${places.length} packages`;
    stream.write(stream.isTTY ? `\r${line}` : `${line}\n`);
  };
  const timer = setInterval(show, everyMs);
  return () => {
    clearInterval(timer);
    if (stream.isTTY) stream.write('\r\u001b[K');
  };
}

/** Where the packages of the lockfile are to be, without those for other platforms. */
function placesOf(root) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const isForHere = ({ os, cpu, libc }) =>
    (os === undefined || os.includes(process.platform)) &&
    (cpu === undefined || cpu.includes(process.arch)) &&
    (libc === undefined || libc.includes('glibc'));
  return Object.keys(packages).filter((place) => place !== '' && isForHere(packages[place]));
}
