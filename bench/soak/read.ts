/** Prints the figures of a finished or aborted soak: `node bench/soak/read.ts [bench/results/soak.json]`. */
import { readFileSync } from 'node:fs';
import { tableOf } from '../report.ts';
import type { Sample } from './sample.ts';
import { figuresOf, type Rest } from './outcome.ts';

type Written = { samples: Sample[]; rest?: Rest | null };

const written = JSON.parse(readFileSync(process.argv[2] ?? 'bench/results/soak.json', 'utf8')) as Written;
process.stdout.write(`${tableOf(figuresOf(written.samples, written.rest ?? null))}\n`);
