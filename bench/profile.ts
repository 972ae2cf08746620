/** `node bench/profile.ts <file.cpuprofile>`: prints the CPU time by function and by package. */
import { readFileSync } from 'node:fs';

type Node = { id: number; callFrame: { functionName: string; url: string; lineNumber: number } };
type Profile = { nodes: Node[]; samples: number[]; timeDeltas: number[] };

const [file = ''] = process.argv.slice(2);
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
const byFunction = new Map<string, number>();
const byPackage = new Map<string, number>();
let busy = 0;

samples.forEach((id, index) => {
  const frame = frames.get(id);
  if (frame === undefined || frame.functionName === '(idle)') return;
  const ms = (timeDeltas[index] ?? 0) / 1_000;
  busy += ms;
  const place = placeOf(frame.url);
  add(byPackage, packageOf(place) || frame.functionName, ms);
  add(byFunction, `${frame.functionName || '(anonymous)'}  ${place}:${frame.lineNumber + 1}`, ms);
});

print('by package', byPackage, 25);
print('by function', byFunction, 50);

function add(sums: Map<string, number>, key: string, ms: number): void {
  sums.set(key, (sums.get(key) ?? 0) + ms);
}

function placeOf(url: string): string {
  return url.replace(/^.*\/node_modules\//, '~').replace(/^file:\/\/.*\/(src|bench)\//, '$1/');
}

function packageOf(place: string): string {
  if (place.startsWith('node:')) return place.split('/').slice(0, 2).join('/');
  return place
    .split('/')
    .slice(0, place.startsWith('~@') ? 2 : place.startsWith('~') ? 1 : 2)
    .join('/');
}

function print(title: string, sums: Map<string, number>, most: number): void {
  process.stdout.write(`\n${title} (${Math.round(busy)} ms busy)\n`);
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, most);
  for (const [key, ms] of sorted) {
    const share = ((100 * ms) / busy).toFixed(1).padStart(5);
    process.stdout.write(`${share} %  ${Math.round(ms).toString().padStart(6)} ms  ${key}\n`);
  }
}
